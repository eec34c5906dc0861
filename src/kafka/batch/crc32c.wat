;; CRC-32C of bytes, sixteen a step; crc32c.ts has its binary and fills the tables.
;;
;; Memory, in bytes:
;;      0  sixteen tables of 256 numbers: the effect of a byte with k zero bytes behind it
;;  16384  the bytes
(module
  (memory (export "memory") 1)

  ;; Goes on from $crc over bytes [$at, $end).
  (func (export "extend") (param $crc i32) (param $at i32) (param $end i32) (result i32)
    (local $w0 i32) (local $w1 i32) (local $w2 i32) (local $w3 i32)
    (block $done (loop $sixteen
      (br_if $done (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
      (local.set $w0 (i32.xor (local.get $crc) (i32.load (local.get $at))))
      (local.set $w1 (i32.load offset=4 (local.get $at)))
      (local.set $w2 (i32.load offset=8 (local.get $at)))
      (local.set $w3 (i32.load offset=12 (local.get $at)))
      ;; What depends on the bytes before comes last, so that the rest need not wait for it.
      (i32.load offset=11264 (i32.and (i32.shl (local.get $w1) (i32.const 2)) (i32.const 1020)))
      (i32.xor (i32.load offset=10240 (i32.and (i32.shr_u (local.get $w1) (i32.const 6)) (i32.const 1020))))
      (i32.xor (i32.load offset=9216 (i32.and (i32.shr_u (local.get $w1) (i32.const 14)) (i32.const 1020))))
      (i32.xor (i32.load offset=8192 (i32.and (i32.shr_u (local.get $w1) (i32.const 22)) (i32.const 1020))))
      (i32.xor (i32.load offset=7168 (i32.and (i32.shl (local.get $w2) (i32.const 2)) (i32.const 1020))))
      (i32.xor (i32.load offset=6144 (i32.and (i32.shr_u (local.get $w2) (i32.const 6)) (i32.const 1020))))
      (i32.xor (i32.load offset=5120 (i32.and (i32.shr_u (local.get $w2) (i32.const 14)) (i32.const 1020))))
      (i32.xor (i32.load offset=4096 (i32.and (i32.shr_u (local.get $w2) (i32.const 22)) (i32.const 1020))))
      (i32.xor (i32.load offset=3072 (i32.and (i32.shl (local.get $w3) (i32.const 2)) (i32.const 1020))))
      (i32.xor (i32.load offset=2048 (i32.and (i32.shr_u (local.get $w3) (i32.const 6)) (i32.const 1020))))
      (i32.xor (i32.load offset=1024 (i32.and (i32.shr_u (local.get $w3) (i32.const 14)) (i32.const 1020))))
      (i32.xor (i32.load offset=0 (i32.and (i32.shr_u (local.get $w3) (i32.const 22)) (i32.const 1020))))
      (i32.xor (i32.load offset=15360 (i32.and (i32.shl (local.get $w0) (i32.const 2)) (i32.const 1020))))
      (i32.xor (i32.load offset=14336 (i32.and (i32.shr_u (local.get $w0) (i32.const 6)) (i32.const 1020))))
      (i32.xor (i32.load offset=13312 (i32.and (i32.shr_u (local.get $w0) (i32.const 14)) (i32.const 1020))))
      (i32.xor (i32.load offset=12288 (i32.and (i32.shr_u (local.get $w0) (i32.const 22)) (i32.const 1020))))
      (local.set $crc)
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $sixteen)))
    (block $done (loop $one
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $crc
        (i32.xor
          (i32.shr_u (local.get $crc) (i32.const 8))
          (i32.load
            (i32.shl
              (i32.and (i32.xor (local.get $crc) (i32.load8_u (local.get $at))) (i32.const 255))
              (i32.const 2)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $one)))
    (local.get $crc))
)
