;; Numbers as JSON.stringify writes them: the shortest digits that mean the same double, and of these the closest ones.
;; Source: R. Giulietti, "The Schubfach way to render doubles" (2020). json-numbers.ts has its binary, and fills what is
;; below 10240.
;;
;; Memory, in bytes:
;;      0  617 powers of ten from -292 on, of 128 bits, the low word first
;;   9872  10^0 to 10^17
;;  10016  the digits 00 to 99
;;  10240  pieces of text
;; 196608  the text that is written
(module
  (memory (export "memory") 4)

  ;; The high word of a product.
  (func $high (param $a i64) (param $b i64) (result i64)
    (local $aLow i64) (local $aHigh i64) (local $bLow i64) (local $bHigh i64) (local $middle i64)
    (local.set $aLow (i64.and (local.get $a) (i64.const 0xffffffff)))
    (local.set $aHigh (i64.shr_u (local.get $a) (i64.const 32)))
    (local.set $bLow (i64.and (local.get $b) (i64.const 0xffffffff)))
    (local.set $bHigh (i64.shr_u (local.get $b) (i64.const 32)))
    (local.set $middle
      (i64.add
        (i64.mul (local.get $aHigh) (local.get $bLow))
        (i64.shr_u (i64.mul (local.get $aLow) (local.get $bLow)) (i64.const 32))))
    (i64.add
      (i64.add (i64.mul (local.get $aHigh) (local.get $bHigh)) (i64.shr_u (local.get $middle) (i64.const 32)))
      (i64.shr_u
        (i64.add (i64.mul (local.get $aLow) (local.get $bHigh)) (i64.and (local.get $middle) (i64.const 0xffffffff)))
        (i64.const 32))))

  ;; A power of ten times $c, in units of 2^128, rounded to odd.
  (func $roundedToOdd (param $low i64) (param $power i64) (param $c i64) (result i64)
    (local $below i64) (local $sum i64)
    (local.set $below (i64.mul (local.get $power) (local.get $c)))
    (local.set $sum (i64.add (local.get $below) (call $high (local.get $low) (local.get $c))))
    (i64.or
      (i64.add
        (call $high (local.get $power) (local.get $c))
        (i64.extend_i32_u (i64.lt_u (local.get $sum) (local.get $below))))
      (i64.extend_i32_u (i64.gt_u (local.get $sum) (i64.const 1)))))

  (func $digitCount (param $number i64) (result i32)
    (local $count i32)
    (local.set $count (select (i32.const 8) (i32.const 17) (i64.lt_u (local.get $number) (i64.const 100000000))))
    (block $done (loop $less
      (br_if $done (i32.eq (local.get $count) (i32.const 1)))
      (br_if $done
        (i64.ge_u
          (local.get $number)
          (i64.load offset=9864 (i32.shl (local.get $count) (i32.const 3)))))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br $less)))
    (local.get $count))

  ;; Writes two digits.
  (func $pair (param $at i32) (param $number i32)
    (i32.store16 (local.get $at) (i32.load16_u offset=10016 (i32.shl (local.get $number) (i32.const 1)))))

  ;; Writes the digits of a number up to $end.
  (func $digits (param $end i32) (param $number i64)
    (local $quotient i64) (local $rest i32)
    (block $few (loop $eight
      (br_if $few (i64.lt_u (local.get $number) (i64.const 100000000)))
      (local.set $quotient (i64.div_u (local.get $number) (i64.const 100000000)))
      (local.set $rest
        (i32.wrap_i64
          (i64.sub (local.get $number) (i64.mul (local.get $quotient) (i64.const 100000000)))))
      (local.set $number (local.get $quotient))
      (local.set $end (i32.sub (local.get $end) (i32.const 8)))
      (call $pair (i32.add (local.get $end) (i32.const 6)) (i32.rem_u (local.get $rest) (i32.const 100)))
      (local.set $rest (i32.div_u (local.get $rest) (i32.const 100)))
      (call $pair (i32.add (local.get $end) (i32.const 4)) (i32.rem_u (local.get $rest) (i32.const 100)))
      (local.set $rest (i32.div_u (local.get $rest) (i32.const 100)))
      (call $pair (i32.add (local.get $end) (i32.const 2)) (i32.rem_u (local.get $rest) (i32.const 100)))
      (call $pair (local.get $end) (i32.div_u (local.get $rest) (i32.const 100)))
      (br $eight)))
    (local.set $rest (i32.wrap_i64 (local.get $number)))
    (block $last (loop $two
      (br_if $last (i32.lt_u (local.get $rest) (i32.const 100)))
      (local.set $end (i32.sub (local.get $end) (i32.const 2)))
      (call $pair (local.get $end) (i32.rem_u (local.get $rest) (i32.const 100)))
      (local.set $rest (i32.div_u (local.get $rest) (i32.const 100)))
      (br $two)))
    (if (i32.ge_u (local.get $rest) (i32.const 10))
      (then (call $pair (i32.sub (local.get $end) (i32.const 2)) (local.get $rest)))
      (else (i32.store8 (i32.sub (local.get $end) (i32.const 1)) (i32.add (local.get $rest) (i32.const 48))))))

  ;; Writes $number * 10^$exponent, which has no zero at its end, as ECMAScript lays numbers out.
  (func $laidOut (param $at i32) (param $number i64) (param $exponent i32) (result i32)
    (local $count i32) (local $point i32)
    (local.set $count (call $digitCount (local.get $number)))
    ;; Digits before the decimal point.
    (local.set $point (i32.add (local.get $count) (local.get $exponent)))
    (if (i32.and (i32.gt_s (local.get $point) (i32.const -6)) (i32.le_s (local.get $point) (i32.const 0)))
      (then
        (i64.store (local.get $at) (i64.const 0x3030303030302e30))
        (local.set $at (i32.add (i32.sub (local.get $at) (local.get $point)) (i32.add (local.get $count) (i32.const 2))))
        (call $digits (local.get $at) (local.get $number))
        (return (local.get $at))))
    (if (i32.and (i32.ge_s (local.get $exponent) (i32.const 0)) (i32.le_s (local.get $point) (i32.const 21)))
      (then
        (local.set $at (i32.add (local.get $at) (local.get $count)))
        (call $digits (local.get $at) (local.get $number))
        (i64.store (local.get $at) (i64.const 0x3030303030303030))
        (i64.store offset=8 (local.get $at) (i64.const 0x3030303030303030))
        (i64.store offset=16 (local.get $at) (i64.const 0x3030303030303030))
        (return (i32.add (local.get $at) (local.get $exponent)))))
    ;; Room for the point.
    (call $digits (i32.add (i32.add (local.get $at) (local.get $count)) (i32.const 1)) (local.get $number))
    (if (i32.and (i32.gt_s (local.get $point) (i32.const 0)) (i32.le_s (local.get $point) (i32.const 21)))
      (then
        (local.set $count (i32.sub (local.get $count) (local.get $point)))
        (loop $whole
          (i32.store8 (local.get $at) (i32.load8_u offset=1 (local.get $at)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $whole (local.tee $point (i32.sub (local.get $point) (i32.const 1)))))
        (i32.store8 (local.get $at) (i32.const 46))
        (return (i32.add (i32.add (local.get $at) (local.get $count)) (i32.const 1)))))
    (i32.store8 (local.get $at) (i32.load8_u offset=1 (local.get $at)))
    (i32.store8 offset=1 (local.get $at) (i32.const 46))
    (local.set $at
      (i32.add
        (local.get $at)
        (select (i32.add (local.get $count) (i32.const 1)) (i32.const 1) (i32.gt_u (local.get $count) (i32.const 1)))))
    (local.set $point (i32.sub (local.get $point) (i32.const 1)))
    (i32.store8 (local.get $at) (i32.const 101))
    (i32.store8 offset=1
      (local.get $at)
      (select (i32.const 45) (i32.const 43) (i32.lt_s (local.get $point) (i32.const 0))))
    (if (i32.lt_s (local.get $point) (i32.const 0))
      (then (local.set $point (i32.sub (i32.const 0) (local.get $point)))))
    (local.set $number (i64.extend_i32_u (local.get $point)))
    (local.set $at (i32.add (i32.add (local.get $at) (i32.const 2)) (call $digitCount (local.get $number))))
    (call $digits (local.get $at) (local.get $number))
    (local.get $at))

  ;; Writes a positive double that is not an integer below 2^53.
  (func $shortest (param $at i32) (param $value f64) (result i32)
    (local $c i64) (local $q i32) (local $k i32) (local $odd i64) (local $isNarrow i32)
    (local $low i64) (local $power i64) (local $lower i64) (local $upper i64) (local $four i64)
    (local $number i64) (local $tens i64) (local $isBelow i32) (local $isAbove i32)
    (local.set $c (i64.and (i64.reinterpret_f64 (local.get $value)) (i64.const 0xfffffffffffff)))
    (local.set $q (i32.wrap_i64 (i64.shr_u (i64.reinterpret_f64 (local.get $value)) (i64.const 52))))
    ;; The double below a power of two is only half as far away.
    (local.set $isNarrow (i32.and (i64.eqz (local.get $c)) (i32.gt_u (local.get $q) (i32.const 1))))
    (if (local.get $q)
      (then (local.set $c (i64.or (local.get $c) (i64.const 0x10000000000000))))
      (else (local.set $q (i32.const 1))))
    (local.set $q (i32.sub (local.get $q) (i32.const 1075)))
    (local.set $odd (i64.and (local.get $c) (i64.const 1)))
    (local.set $c (i64.shl (local.get $c) (i64.const 2)))
    (local.set $k
      (i32.shr_s
        (i32.sub
          (i32.mul (local.get $q) (i32.const 1262611))
          (select (i32.const 524031) (i32.const 0) (local.get $isNarrow)))
        (i32.const 22)))
    (local.set $low (i64.load (i32.shl (i32.sub (i32.const 292) (local.get $k)) (i32.const 4))))
    (local.set $power (i64.load offset=8 (i32.shl (i32.sub (i32.const 292) (local.get $k)) (i32.const 4))))
    (local.set $tens
      (i64.extend_i32_s
        (i32.add
          (i32.add (local.get $q) (i32.const 1))
          (i32.shr_s (i32.mul (i32.sub (i32.const 0) (local.get $k)) (i32.const 1741647)) (i32.const 19)))))
    (local.set $lower
      (i64.add
        (local.get $odd)
        (call $roundedToOdd (local.get $low) (local.get $power)
          (i64.shl
            (i64.add (i64.sub (local.get $c) (i64.const 2)) (i64.extend_i32_u (local.get $isNarrow)))
            (local.get $tens)))))
    (local.set $upper
      (i64.sub
        (call $roundedToOdd (local.get $low) (local.get $power)
          (i64.shl (i64.add (local.get $c) (i64.const 2)) (local.get $tens)))
        (local.get $odd)))
    (local.set $four
      (call $roundedToOdd (local.get $low) (local.get $power) (i64.shl (local.get $c) (local.get $tens))))
    (block $found
      ;; One digit less, where that means the same double.
      (local.set $number (i64.div_u (local.get $four) (i64.const 40)))
      (if (i64.ge_u (local.get $four) (i64.const 40))
        (then
          (local.set $tens (i64.mul (local.get $number) (i64.const 40)))
          (local.set $isBelow (i64.le_u (local.get $lower) (local.get $tens)))
          (local.set $isAbove (i64.le_u (i64.add (local.get $tens) (i64.const 40)) (local.get $upper)))
          (if (i32.ne (local.get $isBelow) (local.get $isAbove))
            (then
              (local.set $number (i64.add (local.get $number) (i64.extend_i32_u (local.get $isAbove))))
              (local.set $k (i32.add (local.get $k) (i32.const 1)))
              (br $found)))))
      (local.set $number (i64.shr_u (local.get $four) (i64.const 2)))
      (local.set $tens (i64.shl (local.get $number) (i64.const 2)))
      (local.set $isBelow (i64.le_u (local.get $lower) (local.get $tens)))
      (local.set $isAbove (i64.le_u (i64.add (local.get $tens) (i64.const 4)) (local.get $upper)))
      (if (i32.eq (local.get $isBelow) (local.get $isAbove))
        (then
          ;; Both or none mean the double: the closer one, or the even one.
          (local.set $isAbove
            (i64.gt_u
              (i64.add (local.get $four) (i64.and (local.get $number) (i64.const 1)))
              (i64.add (local.get $tens) (i64.const 2))))))
      (local.set $number (i64.add (local.get $number) (i64.extend_i32_u (local.get $isAbove)))))
    (block $odd
      (br_if $odd (i32.wrap_i64 (i64.and (local.get $number) (i64.const 1))))
      (local.set $tens (i64.div_u (local.get $number) (i64.const 100000000)))
      (if (i64.eq (i64.mul (local.get $tens) (i64.const 100000000)) (local.get $number))
        (then
          (local.set $number (local.get $tens))
          (local.set $k (i32.add (local.get $k) (i32.const 8)))))
      (loop $zero
        (local.set $tens (i64.div_u (local.get $number) (i64.const 10)))
        (br_if $odd (i64.ne (i64.mul (local.get $tens) (i64.const 10)) (local.get $number)))
        (local.set $number (local.get $tens))
        (local.set $k (i32.add (local.get $k) (i32.const 1)))
        (br $zero)))
    (call $laidOut (local.get $at) (local.get $number) (local.get $k)))

  ;; Copies the piece of text [$from, $end), which is not empty, to $at. Returns where it ends there.
  (func $piece (export "piece") (param $at i32) (param $from i32) (param $end i32) (result i32)
    (local $past i32)
    (local.set $past (i32.add (local.get $at) (i32.sub (local.get $end) (local.get $from))))
    (loop $eight
      (i64.store (local.get $at) (i64.load (local.get $from)))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $eight (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 8))) (local.get $end))))
    (local.get $past))

  ;; Writes a piece of text and a number behind it: null where it is not finite.
  (func (export "number") (param $at i32) (param $from i32) (param $end i32) (param $value f64) (result i32)
    (local $whole i64)
    (local.set $at (call $piece (local.get $at) (local.get $from) (local.get $end)))
    (if (i32.eqz (f64.lt (f64.abs (local.get $value)) (f64.const inf)))
      (then
        (i32.store (local.get $at) (i32.const 0x6c6c756e))
        (return (i32.add (local.get $at) (i32.const 4)))))
    (if (f64.lt (local.get $value) (f64.const 0))
      (then
        (local.set $value (f64.neg (local.get $value)))
        (i32.store8 (local.get $at) (i32.const 45))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))))
    (if (f64.lt (local.get $value) (f64.const 9007199254740992))
      (then
        (local.set $whole (i64.trunc_f64_s (local.get $value)))
        (if (f64.eq (f64.convert_i64_s (local.get $whole)) (local.get $value))
          (then
            (local.set $at (i32.add (local.get $at) (call $digitCount (local.get $whole))))
            (call $digits (local.get $at) (local.get $whole))
            (return (local.get $at))))))
    (call $shortest (local.get $at) (local.get $value)))
)
