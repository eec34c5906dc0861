;; The arithmetic of the shape search, two float64 at a time. shape-search.ts says what is computed; its binary is in
;; shape-kernel.ts. Results are those of the same operations one by one: none is fused, none is reordered.
;;
;; Memory, in bytes; whatever calls fills it first:
;;      0  values       float32, in the order of time: the four before the window, then the window; NaN where missing
;;   4096  innovations  float64 of the window, newest first; the eight bytes before them are scratch
;;   8704  distances    bfloat16 by lag, the shortest first: the upper half of a float32, rounded to nearest even
(module
  (memory (export "memory") 1)

  ;; The innovations of a window of so many values.
  (func (export "innovate") (param $count i32) (param $clamp f64)
    (local $i i32) (local $at i32) (local $most v128) (local $least v128) (local $innovation v128) (local $missing v128)
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
      (local.set $missing
        (v128.or (local.get $missing) (f64x2.ne (local.get $innovation) (local.get $innovation))))
      (local.set $innovation (f64x2.pmin (f64x2.pmax (local.get $innovation) (local.get $least)) (local.get $most)))
      (v128.store (local.get $at)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $innovation) (local.get $innovation)))
      (local.set $x3 (local.get $x1))
      (local.set $x4 (local.get $x2))
      (local.set $x2 (local.get $x0))
      (local.set $at (i32.sub (local.get $at) (i32.const 16)))
      (br_if $pairs (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 2))) (local.get $count))))
    (if (v128.any_true (local.get $missing)) (then (call $amend (local.get $count) (local.get $clamp)))))

  ;; The innovations that are NaN, from what is there of their level; 0 where nothing is known.
  (func $amend (param $count i32) (param $clamp f64)
    (local $i i32) (local $at i32) (local $innovation f64)
    (local.set $at (i32.add (i32.const 4096) (i32.shl (local.get $count) (i32.const 3))))
    (loop $ones
      (local.set $at (i32.sub (local.get $at) (i32.const 8)))
      (local.set $innovation (f64.load (local.get $at)))
      (if (f64.ne (local.get $innovation) (local.get $innovation)) (then
        (local.set $innovation (call $ofPresent (i32.shl (local.get $i) (i32.const 2))))
        (f64.store
          (local.get $at)
          (f64.min (local.get $clamp) (f64.max (f64.neg (local.get $clamp)) (local.get $innovation))))))
      (br_if $ones (i32.lt_s (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $count)))))

  ;; The innovation of the value whose level begins at $level.
  (func $ofPresent (param $level i32) (result f64)
    (local $back i32) (local $value f64) (local $each f64) (local $sum f64) (local $known f64)
    (local.set $value (f64.promote_f32 (f32.load offset=16 (local.get $level))))
    (if (f64.ne (local.get $value) (local.get $value)) (then (return (f64.const 0))))
    (local.set $back (i32.const 12))
    (loop $ones
      (local.set $each (f64.promote_f32 (f32.load (i32.add (local.get $level) (local.get $back)))))
      (if (f64.eq (local.get $each) (local.get $each)) (then
        (local.set $sum (f64.add (local.get $sum) (local.get $each)))
        (local.set $known (f64.add (local.get $known) (f64.const 1)))))
      (br_if $ones (i32.ge_s (local.tee $back (i32.sub (local.get $back) (i32.const 4))) (i32.const 0))))
    (if (f64.eq (local.get $known) (f64.const 0)) (then (return (f64.const 0))))
    (f64.sub (local.get $value) (f64.div (local.get $sum) (local.get $known))))

  ;; Moves the distances of so many lags by the row that lies $row behind the newest one. Returns the index of the
  ;; smallest of the first $searched, the first of equal ones; -1 where all are infinite.
  (func (export "move") (param $row i32) (param $lags i32) (param $searched i32) (result i32)
    (local $lag i32) (local $at i32) (local $from i32) (local $fours i32) (local $now v128)
    (local $four v128) (local $low v128) (local $high v128) (local $squares v128) (local $others v128)
    (local $infinite v128) (local $best v128) (local $bestLags v128) (local $fourLags v128)
    (local $nearest i32) (local $lane i32) (local $bits i32) (local $least f32) (local $distance f32)
    (local $square f64) (local $before f64)
    (local.set $from (i32.shl (local.get $row) (i32.const 3)))
    (local.set $now (v128.load64_splat offset=4096 (local.get $from)))
    (local.set $best (v128.const f32x4 inf inf inf inf))
    (local.set $bestLags (v128.const i32x4 -1 -1 -1 -1))
    (local.set $fourLags (v128.const i32x4 0 1 2 3))
    (local.set $fours
      (i32.and
        (select
          (local.get $searched)
          (local.get $lags)
          (i32.lt_s (local.get $searched) (local.get $lags)))
        (i32.const -4)))
    (block $all
      (br_if $all (i32.le_s (local.get $fours) (i32.const 0)))
      (loop $each
        (local.set $four
          (i32x4.shl (i32x4.extend_low_i16x8_u (v128.load64_zero offset=8704 (local.get $at))) (i32.const 16)))
        (local.set $infinite (f32x4.eq (local.get $four) (v128.const f32x4 inf inf inf inf)))
        (local.set $squares (f64x2.sub (local.get $now) (v128.load offset=4224 (local.get $from))))
        (local.set $squares (f64x2.mul (local.get $squares) (local.get $squares)))
        (local.set $others (f64x2.sub (local.get $now) (v128.load offset=4240 (local.get $from))))
        (local.set $others (f64x2.mul (local.get $others) (local.get $others)))
        (local.set $low
          (f64x2.add
            (f64x2.mul (v128.const f64x2 0.8 0.8) (f64x2.promote_low_f32x4 (local.get $four)))
            (f64x2.mul (v128.const f64x2 0.19999999999999996 0.19999999999999996) (local.get $squares))))
        (local.set $high
          (f64x2.add
            (f64x2.mul
              (v128.const f64x2 0.8 0.8)
              (f64x2.promote_low_f32x4
                (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $four) (local.get $four))))
            (f64x2.mul (v128.const f64x2 0.19999999999999996 0.19999999999999996) (local.get $others))))
        (local.set $four
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
            (f32x4.demote_f64x2_zero (local.get $low))
            (f32x4.demote_f64x2_zero (local.get $high))))
        (if (v128.any_true (local.get $infinite)) (then
          ;; There is no distance yet: the first square is one.
          (local.set $four
            (v128.bitselect
              (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
                (f32x4.demote_f64x2_zero (local.get $squares))
                (f32x4.demote_f64x2_zero (local.get $others)))
              (local.get $four)
              (local.get $infinite)))))
        (local.set $four
          (i32x4.shr_u
            (i32x4.add
              (i32x4.add (local.get $four) (v128.const i32x4 0x7fff 0x7fff 0x7fff 0x7fff))
              (v128.and (i32x4.shr_u (local.get $four) (i32.const 16)) (v128.const i32x4 1 1 1 1)))
            (i32.const 16)))
        (v128.store64_lane offset=8704 0 (local.get $at) (i16x8.narrow_i32x4_u (local.get $four) (local.get $four)))
        (local.set $four (i32x4.shl (local.get $four) (i32.const 16)))
        (local.set $bestLags
          (v128.bitselect (local.get $fourLags) (local.get $bestLags) (f32x4.lt (local.get $four) (local.get $best))))
        (local.set $best (f32x4.pmin (local.get $best) (local.get $four)))
        (local.set $fourLags (i32x4.add (local.get $fourLags) (v128.const i32x4 4 4 4 4)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $from (i32.add (local.get $from) (i32.const 32)))
        (br_if $each
          (i32.lt_s (local.tee $lag (i32.add (local.get $lag) (i32.const 4))) (local.get $fours)))))
    (local.set $least (f32x4.extract_lane 0 (local.get $best)))
    (local.set $nearest (i32x4.extract_lane 0 (local.get $bestLags)))
    (local.set $distance (f32x4.extract_lane 1 (local.get $best)))
    (local.set $lane (i32x4.extract_lane 1 (local.get $bestLags)))
    (if (i32.or
          (f32.lt (local.get $distance) (local.get $least))
          (i32.and
            (f32.eq (local.get $distance) (local.get $least))
            (i32.lt_s (local.get $lane) (local.get $nearest))))
      (then (local.set $least (local.get $distance)) (local.set $nearest (local.get $lane))))
    (local.set $distance (f32x4.extract_lane 2 (local.get $best)))
    (local.set $lane (i32x4.extract_lane 2 (local.get $bestLags)))
    (if (i32.or
          (f32.lt (local.get $distance) (local.get $least))
          (i32.and
            (f32.eq (local.get $distance) (local.get $least))
            (i32.lt_s (local.get $lane) (local.get $nearest))))
      (then (local.set $least (local.get $distance)) (local.set $nearest (local.get $lane))))
    (local.set $distance (f32x4.extract_lane 3 (local.get $best)))
    (local.set $lane (i32x4.extract_lane 3 (local.get $bestLags)))
    (if (i32.or
          (f32.lt (local.get $distance) (local.get $least))
          (i32.and
            (f32.eq (local.get $distance) (local.get $least))
            (i32.lt_s (local.get $lane) (local.get $nearest))))
      (then (local.set $least (local.get $distance)) (local.set $nearest (local.get $lane))))
    ;; What is left, one by one.
    (block $all
      (br_if $all (i32.ge_s (local.get $lag) (local.get $lags)))
      (loop $each
        (local.set $square (f64.sub (f64x2.extract_lane 0 (local.get $now)) (f64.load offset=4224 (local.get $from))))
        (local.set $square (f64.mul (local.get $square) (local.get $square)))
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
        (local.set $bits
          (i32.shr_u
            (i32.add
              (i32.add (local.get $bits) (i32.const 0x7fff))
              (i32.and (i32.shr_u (local.get $bits) (i32.const 16)) (i32.const 1)))
            (i32.const 16)))
        (i32.store16 offset=8704 (local.get $at) (local.get $bits))
        (local.set $distance (f32.reinterpret_i32 (i32.shl (local.get $bits) (i32.const 16))))
        (if (i32.and
              (f32.lt (local.get $distance) (local.get $least))
              (i32.lt_s (local.get $lag) (local.get $searched)))
          (then (local.set $least (local.get $distance)) (local.set $nearest (local.get $lag))))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (local.set $from (i32.add (local.get $from) (i32.const 8)))
        (br_if $each (i32.lt_s (local.tee $lag (i32.add (local.get $lag) (i32.const 1))) (local.get $lags)))))
    (local.get $nearest))
)
