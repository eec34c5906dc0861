;; The arithmetic of the shape search, two float64 at a time. shape-search.ts says what is computed; its binary is in
;; shape-kernel.ts. Results are those of the same operations one by one: none is fused, none is reordered.
;;
;; Memory, in bytes; whatever calls fills it first:
;;      0  values       float32, in the order of time: the four before the window, then the window; NaN where missing
;;   4096  innovations  float64 of the window, newest first; the eight bytes before them are scratch
;;   8704  distances    bfloat16 by lag, the shortest first: the upper half of a float32, rounded to nearest even
;;  10240  before       the distances as they were, while they are moved
;;  12288  unknown      rows of the window without an innovation, as int16: rows behind the newest one, oldest first
(module
  (memory (export "memory") 1)
  (global $newest (mut i32) (i32.const 0))
  (global $clamp (mut f64) (f64.const 0))
  (global $unknown (mut i32) (i32.const 0))

  ;; The innovations of a window of so many values; infinite where the value, or one of the four before, is missing.
  ;; Returns the number of those.
  (func (export "innovate") (param $count i32) (param $clamp f64) (result i32)
    (local $i i32) (local $at i32) (local $most v128) (local $least v128) (local $innovation v128) (local $sum v128)
    (local $x0 v128) (local $x1 v128) (local $x2 v128) (local $x3 v128) (local $x4 v128)
    (local.set $most (f64x2.splat (local.get $clamp)))
    (local.set $least (f64x2.neg (local.get $most)))
    (local.set $x4 (f64x2.promote_low_f32x4 (v128.load64_zero (i32.const 0))))
    (local.set $x2 (f64x2.promote_low_f32x4 (v128.load64_zero (i32.const 8))))
    (local.set $x3 (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $x4) (local.get $x2)))
    ;; The values i and i + 1 go where the later one is; an odd last pair begins in the scratch.
    (local.set $at (i32.add (i32.const 4080) (i32.shl (local.get $count) (i32.const 3))))
    (loop $pairs
      (local.set $x0 (f64x2.promote_low_f32x4 (v128.load64_zero offset=16 (i32.shl (local.get $i) (i32.const 2)))))
      (local.set $x1 (i8x16.shuffle 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 (local.get $x2) (local.get $x0)))
      (local.set $innovation
        (f64x2.sub
          (local.get $x0)
          (f64x2.mul
            (f64x2.add
              (f64x2.add (f64x2.add (local.get $x1) (local.get $x2)) (local.get $x3))
              (local.get $x4))
            (v128.const f64x2 0.25 0.25))))
      ;; NaN from the first innovation on that is NaN.
      (local.set $sum (f64x2.add (local.get $sum) (local.get $innovation)))
      (local.set $innovation (f64x2.pmin (f64x2.pmax (local.get $innovation) (local.get $least)) (local.get $most)))
      (v128.store (local.get $at)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $innovation) (local.get $innovation)))
      (local.set $x3 (local.get $x1))
      (local.set $x4 (local.get $x2))
      (local.set $x2 (local.get $x0))
      (local.set $at (i32.sub (local.get $at) (i32.const 16)))
      (br_if $pairs (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 2))) (local.get $count))))
    (if (i32.eqz (v128.any_true (f64x2.ne (local.get $sum) (local.get $sum)))) (then (return (i32.const 0))))
    (global.set $newest (i32.add (i32.const 12) (i32.shl (local.get $count) (i32.const 2))))
    (global.set $clamp (local.get $clamp))
    (call $mark (local.get $count)))

  ;; Lists the rows whose innovations are NaN, and makes them infinite: NaN has bits of either sign.
  (func $mark (param $count i32) (result i32)
    (local $at i32) (local $each f64)
    (global.set $unknown (i32.const 0))
    (loop $ones
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (local.set $at (i32.shl (local.get $count) (i32.const 3)))
      (local.set $each (f64.load offset=4096 (local.get $at)))
      (if (f64.ne (local.get $each) (local.get $each)) (then
        (f64.store offset=4096 (local.get $at) (f64.const inf))
        (i32.store16 offset=12288 (i32.shl (global.get $unknown) (i32.const 1)) (local.get $count))
        (global.set $unknown (i32.add (global.get $unknown) (i32.const 1)))))
      (br_if $ones (local.get $count)))
    (global.get $unknown))

  ;; The innovations of two rows, from those of the four values before that both have; NaN with less than two. Rows are
  ;; behind the newest one.
  (func $common (export "common") (param $row i32) (param $other i32) (result f64 f64)
    (local $back i32) (local $each f64) (local $same f64) (local $sum f64) (local $others f64) (local $known f64)
    (local.set $row (i32.sub (global.get $newest) (i32.shl (local.get $row) (i32.const 2))))
    (local.set $other (i32.sub (global.get $newest) (i32.shl (local.get $other) (i32.const 2))))
    (local.set $back (i32.const 4))
    (loop $ones
      (local.set $each (f64.promote_f32 (f32.load (i32.sub (local.get $row) (local.get $back)))))
      (local.set $same (f64.promote_f32 (f32.load (i32.sub (local.get $other) (local.get $back)))))
      (if (i32.and (f64.eq (local.get $each) (local.get $each)) (f64.eq (local.get $same) (local.get $same))) (then
        (local.set $sum (f64.add (local.get $sum) (local.get $each)))
        (local.set $others (f64.add (local.get $others) (local.get $same)))
        (local.set $known (f64.add (local.get $known) (f64.const 1)))))
      (br_if $ones (i32.le_s (local.tee $back (i32.add (local.get $back) (i32.const 4))) (i32.const 16))))
    ;; A level of one value is none.
    (if (f64.lt (local.get $known) (f64.const 2)) (then (local.set $known (f64.const nan))))
    (call $clamped (local.get $row) (f64.div (local.get $sum) (local.get $known)))
    (call $clamped (local.get $other) (f64.div (local.get $others) (local.get $known))))

  ;; The innovation of a value whose level is known.
  (func $clamped (param $at i32) (param $level f64) (result f64)
    (f64.min
      (global.get $clamp)
      (f64.max
        (f64.neg (global.get $clamp))
        (f64.sub (f64.promote_f32 (f32.load (local.get $at))) (local.get $level)))))

  ;; As `move`, where the window has rows without an innovation. These are compared by what both of two rows have. If that
  ;; is nothing the earlier one counts as 0; distances stay where the row itself is missing.
  (func (export "moveAround") (param $row i32) (param $lags i32) (param $searched i32) (result i32)
    (local $at i32) (local $lag i32) (local $value f32)
    (local.set $value (f32.load (i32.sub (global.get $newest) (i32.shl (local.get $row) (i32.const 2)))))
    (if (f32.ne (local.get $value) (local.get $value)) (then (return (call $least (local.get $searched)))))
    (memory.copy (i32.const 10240) (i32.const 8704) (i32.const 1024))
    (if (f64.eq (f64.load offset=4096 (i32.shl (local.get $row) (i32.const 3))) (f64.const inf))
      (then
        (loop $all
          (call $keep (local.get $row) (local.get $at))
          (br_if $all (i32.lt_s (local.tee $at (i32.add (local.get $at) (i32.const 1))) (local.get $lags)))))
      (else
        (drop (call $move (local.get $row) (local.get $lags) (i32.const 0)))
        (loop $each
          (local.set $lag (i32.sub (i32.load16_u offset=12288 (i32.shl (local.get $at) (i32.const 1))) (local.get $row)))
          (local.set $lag (i32.sub (local.get $lag) (i32.const 16)))
          (if (i32.lt_u (local.get $lag) (local.get $lags)) (then (call $keep (local.get $row) (local.get $lag))))
          (br_if $each (i32.lt_s (local.tee $at (i32.add (local.get $at) (i32.const 1))) (global.get $unknown))))))
    (call $least (local.get $searched)))

  ;; Moves the distance of a lag as it was before.
  (func $keep (param $row i32) (param $lag i32)
    (local $earlier i32) (local $at i32) (local $square f64)
    (local.set $at (i32.shl (local.get $lag) (i32.const 1)))
    (i32.store16 offset=8704 (local.get $at) (i32.load16_u offset=10240 (local.get $at)))
    (local.set $earlier (i32.add (local.get $row) (i32.add (local.get $lag) (i32.const 16))))
    (local.set $square (f64.sub (call $common (local.get $row) (local.get $earlier))))
    (if (f64.ne (local.get $square) (local.get $square)) (then
      (call $common (local.get $row) (local.get $row))
      (drop)
      (local.set $square)))
    (local.set $square (f64.mul (local.get $square) (local.get $square)))
    (if (f64.eq (local.get $square) (local.get $square)) (then
      (i32.store16 offset=8704 (local.get $at) (call $moved (local.get $at) (local.get $square))))))

  ;; The index of the smallest of so many distances, the first of equal ones; -1 where all are infinite.
  (func $least (param $searched i32) (result i32)
    (local $lag i32) (local $each i32) (local $least i32) (local $nearest i32)
    (local.set $least (i32.const 0x7f80))
    (local.set $nearest (i32.const -1))
    (block $all
      (loop $ones
        (br_if $all (i32.ge_s (local.get $lag) (local.get $searched)))
        (local.set $each (i32.load16_u offset=8704 (i32.shl (local.get $lag) (i32.const 1))))
        (if (i32.lt_s (local.get $each) (local.get $least))
          (then (local.set $least (local.get $each)) (local.set $nearest (local.get $lag))))
        (local.set $lag (i32.add (local.get $lag) (i32.const 1)))
        (br $ones)))
    (local.get $nearest))

  ;; The bits of the distance at an address, moved by a square.
  (func $moved (param $at i32) (param $square f64) (result i32)
    (local $before f64) (local $bits i32)
    (local.set $before
      (f64.promote_f32 (f32.reinterpret_i32 (i32.shl (i32.load16_u offset=8704 (local.get $at)) (i32.const 16)))))
    (local.set $bits
      (i32.reinterpret_f32
        (f32.demote_f64
          (select
            (local.get $square)
            (f64.add
              (f64.mul (f64.const 0.8) (local.get $before))
              (f64.mul (f64.const 0.19999999999999996) (local.get $square)))
            (f64.eq (local.get $before) (f64.const inf))))))
    (i32.shr_u
      (i32.add
        (i32.add (local.get $bits) (i32.const 0x7fff))
        (i32.and (i32.shr_u (local.get $bits) (i32.const 16)) (i32.const 1)))
      (i32.const 16)))

  ;; Moves the distances of so many lags by the row that lies $row behind the newest one, eight at a time. Returns the
  ;; index of the smallest of the first $searched, the first of equal ones; -1 where all are infinite. Bits of distances
  ;; are in their order.
  (func $move (export "move") (param $row i32) (param $lags i32) (param $searched i32) (result i32)
    (local $lag i32) (local $at i32) (local $from i32) (local $eights i32) (local $now v128)
    (local $eight v128) (local $infinite v128) (local $low v128) (local $high v128)
    (local $squares0 v128) (local $squares1 v128) (local $squares2 v128) (local $squares3 v128)
    (local $best v128) (local $bestLags v128) (local $eightLags v128)
    (local $kept v128) (local $taken v128) (local $half v128) (local $inf v128) (local $step v128)
    (local $nearest i32) (local $bits i32) (local $least i32) (local $square f64)
    (local.set $from (i32.shl (local.get $row) (i32.const 3)))
    (local.set $now (v128.load64_splat offset=4096 (local.get $from)))
    ;; V8 makes a constant vector anew wherever it stands, but keeps a local in a register.
    (local.set $kept (f64x2.splat (f64.const 0.8)))
    (local.set $taken (f64x2.splat (f64.const 0.19999999999999996)))
    (local.set $half (i32x4.splat (i32.const 0x7fff)))
    (local.set $inf (i16x8.splat (i32.const 0x7f80)))
    (local.set $step (i16x8.splat (i32.const 8)))
    (local.set $best (local.get $inf))
    (local.set $bestLags (v128.const i16x8 -1 -1 -1 -1 -1 -1 -1 -1))
    (local.set $eightLags (v128.const i16x8 0 1 2 3 4 5 6 7))
    (local.set $eights
      (i32.and
        (select
          (local.get $searched)
          (local.get $lags)
          (i32.lt_s (local.get $searched) (local.get $lags)))
        (i32.const -8)))
    (block $all
      (br_if $all (i32.le_s (local.get $eights) (i32.const 0)))
      (loop $each
        (local.set $squares0 (f64x2.sub (local.get $now) (v128.load offset=4224 (local.get $from))))
        (local.set $squares0 (f64x2.mul (local.get $squares0) (local.get $squares0)))
        (local.set $squares1 (f64x2.sub (local.get $now) (v128.load offset=4240 (local.get $from))))
        (local.set $squares1 (f64x2.mul (local.get $squares1) (local.get $squares1)))
        (local.set $squares2 (f64x2.sub (local.get $now) (v128.load offset=4256 (local.get $from))))
        (local.set $squares2 (f64x2.mul (local.get $squares2) (local.get $squares2)))
        (local.set $squares3 (f64x2.sub (local.get $now) (v128.load offset=4272 (local.get $from))))
        (local.set $squares3 (f64x2.mul (local.get $squares3) (local.get $squares3)))
        (local.set $eight (v128.load offset=8704 (local.get $at)))
        (local.set $infinite (i16x8.eq (local.get $eight) (local.get $inf)))
        (local.set $low
          (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (v128.const i64x2 0 0) (local.get $eight)))
        (local.set $high
          (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (v128.const i64x2 0 0) (local.get $eight)))
        (local.set $low
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
            (f32x4.demote_f64x2_zero
              (f64x2.add
                (f64x2.mul (local.get $kept) (f64x2.promote_low_f32x4 (local.get $low)))
                (f64x2.mul (local.get $taken) (local.get $squares0))))
            (f32x4.demote_f64x2_zero
              (f64x2.add
                (f64x2.mul
                  (local.get $kept)
                  (f64x2.promote_low_f32x4
                    (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $low) (local.get $low))))
                (f64x2.mul (local.get $taken) (local.get $squares1))))))
        (local.set $high
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
            (f32x4.demote_f64x2_zero
              (f64x2.add
                (f64x2.mul (local.get $kept) (f64x2.promote_low_f32x4 (local.get $high)))
                (f64x2.mul (local.get $taken) (local.get $squares2))))
            (f32x4.demote_f64x2_zero
              (f64x2.add
                (f64x2.mul
                  (local.get $kept)
                  (f64x2.promote_low_f32x4
                    (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $high) (local.get $high))))
                (f64x2.mul (local.get $taken) (local.get $squares3))))))
        (local.set $eight
          (i16x8.narrow_i32x4_u
            (i32x4.shr_u
              (i32x4.add
                (i32x4.add (local.get $low) (local.get $half))
                (i32x4.shr_u (i32x4.shl (local.get $low) (i32.const 15)) (i32.const 31)))
              (i32.const 16))
            (i32x4.shr_u
              (i32x4.add
                (i32x4.add (local.get $high) (local.get $half))
                (i32x4.shr_u (i32x4.shl (local.get $high) (i32.const 15)) (i32.const 31)))
              (i32.const 16))))
        (if (v128.any_true (local.get $infinite)) (then
          ;; There is no distance yet: the first square is one.
          (local.set $eight
            (v128.bitselect
              (call $rounded
                (call $demoted (local.get $squares0) (local.get $squares1))
                (call $demoted (local.get $squares2) (local.get $squares3)))
              (local.get $eight)
              (local.get $infinite)))))
        (v128.store offset=8704 (local.get $at) (local.get $eight))
        (local.set $bestLags
          (v128.bitselect
            (local.get $eightLags)
            (local.get $bestLags)
            (i16x8.lt_s (local.get $eight) (local.get $best))))
        (local.set $best (i16x8.min_s (local.get $best) (local.get $eight)))
        (local.set $eightLags (i16x8.add (local.get $eightLags) (local.get $step)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (local.set $from (i32.add (local.get $from) (i32.const 64)))
        (br_if $each
          (i32.lt_s (local.tee $lag (i32.add (local.get $lag) (i32.const 8))) (local.get $eights)))))
    (local.set $least (call $smallest (local.get $best)))
    (local.set $nearest
      (call $smallest
        (v128.bitselect
          (local.get $bestLags)
          (v128.const i16x8 0x7fff 0x7fff 0x7fff 0x7fff 0x7fff 0x7fff 0x7fff 0x7fff)
          (i16x8.eq (local.get $best) (i16x8.splat (local.get $least))))))
    ;; What is left, one by one.
    (block $all
      (br_if $all (i32.ge_s (local.get $lag) (local.get $lags)))
      (loop $each
        (local.set $square (f64.sub (f64x2.extract_lane 0 (local.get $now)) (f64.load offset=4224 (local.get $from))))
        (local.set $square (f64.mul (local.get $square) (local.get $square)))
        (local.set $bits (call $moved (local.get $at) (local.get $square)))
        (i32.store16 offset=8704 (local.get $at) (local.get $bits))
        (if (i32.and
              (i32.lt_s (local.get $bits) (local.get $least))
              (i32.lt_s (local.get $lag) (local.get $searched)))
          (then (local.set $least (local.get $bits)) (local.set $nearest (local.get $lag))))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (local.set $from (i32.add (local.get $from) (i32.const 8)))
        (br_if $each (i32.lt_s (local.tee $lag (i32.add (local.get $lag) (i32.const 1))) (local.get $lags)))))
    (local.get $nearest))

  ;; As above: a call there would cost as much as what it does.
  (func $demoted (param $low v128) (param $high v128) (result v128)
    (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
      (f32x4.demote_f64x2_zero (local.get $low))
      (f32x4.demote_f64x2_zero (local.get $high))))

  ;; The bfloat16 of eight float32.
  (func $rounded (param $low v128) (param $high v128) (result v128)
    (i16x8.narrow_i32x4_u
      (i32x4.shr_u
        (i32x4.add
          (i32x4.add (local.get $low) (v128.const i32x4 0x7fff 0x7fff 0x7fff 0x7fff))
          (i32x4.shr_u (i32x4.shl (local.get $low) (i32.const 15)) (i32.const 31)))
        (i32.const 16))
      (i32x4.shr_u
        (i32x4.add
          (i32x4.add (local.get $high) (v128.const i32x4 0x7fff 0x7fff 0x7fff 0x7fff))
          (i32x4.shr_u (i32x4.shl (local.get $high) (i32.const 15)) (i32.const 31)))
        (i32.const 16))))

  ;; The smallest of eight whole numbers.
  (func $smallest (param $eight v128) (result i32)
    (local.set $eight
      (i16x8.min_s
        (local.get $eight)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $eight) (local.get $eight))))
    (local.set $eight
      (i16x8.min_s
        (local.get $eight)
        (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $eight) (local.get $eight))))
    (i16x8.extract_lane_s 0
      (i16x8.min_s
        (local.get $eight)
        (i8x16.shuffle 2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13 (local.get $eight) (local.get $eight)))))
)
