;; CRC-32C of bytes. Whole blocks of 128 bytes are folded into one; that and what is behind it are taken byte by byte.
;; crc32c.ts has its binary and fills the first table.
;;
;; Memory, in bytes:
;;     0  256 numbers: the effect of a byte
;;  1024  thirty-two tables of sixteen bytes: what a nibble is 128 bytes later
;;  1536  the bytes, which are overwritten
(module
  (memory (export "memory") 1)

  ;; A byte with 128 zero bytes behind it has the effect of four bytes 32 apart, the last of them where it was: as
  ;; polynomials both have the same remainder. Tables are by these four, then by the place of the byte among four that are
  ;; as far apart, then by the lower and the upper half of the byte.
  (data (i32.const 1024)
    "\00\e6\e0\06\e4\02\04\e2\46\a0\a6\40\a2\44\42\a4\00\26\55\73\08\2e\5d\7b\b2\94\e7\c1\ba\9c\ef\c9"
    "\00\7b\54\2f\02\79\56\2d\ae\d5\fa\81\ac\d7\f8\83\00\d2\80\52\24\f6\a4\76\40\92\c0\12\64\b6\e4\36"
    "\00\78\5a\22\a5\dd\ff\87\cc\b4\96\ee\69\11\33\4b\00\bc\45\f9\9b\27\de\62\0b\b7\4e\f2\90\2c\d5\69"
    "\00\51\bb\ea\4b\1a\f0\a1\87\d6\3c\6d\cc\9d\77\26\00\80\35\b5\73\f3\46\c6\55\d5\60\e0\26\a6\13\93"
    "\00\25\11\34\54\71\45\60\31\14\20\05\65\40\74\51\00\8d\79\f4\30\bd\49\c4\a2\2f\db\56\92\1f\eb\66"
    "\00\4d\58\15\5f\12\07\4a\51\1c\09\44\0e\43\56\1b\00\3b\00\3b\76\4d\76\4d\c1\fa\c1\fa\b7\8c\b7\8c"
    "\00\3a\9b\a1\78\42\e3\d9\44\7e\df\e5\3c\06\a7\9d\00\fe\e9\17\9c\62\75\8b\2d\d3\c4\3a\b1\4f\58\a6"
    "\00\da\d7\0d\bb\61\6c\b6\38\e2\ef\35\83\59\54\8e\00\e9\ea\03\b7\5e\5d\b4\e2\0b\08\e1\55\bc\bf\56"
    "\00\88\90\18\77\ff\e7\6f\d2\5a\42\ca\a5\2d\35\bd\00\cf\ad\62\e6\29\4b\84\70\bf\dd\12\96\59\3b\f4"
    "\00\a4\f4\50\83\27\77\d3\6d\c9\99\3d\ee\4a\1a\be\00\e6\9b\7d\61\87\fa\1c\15\f3\8e\68\74\92\ef\09"
    "\00\c1\e9\28\36\f7\df\1e\87\46\6e\af\b1\70\58\99\00\59\d6\8f\48\11\9e\c7\f4\ad\22\7b\bc\e5\6a\33"
    "\00\be\4f\f1\fa\44\b5\0b\10\ae\5f\e1\ea\54\a5\1b\00\1c\8b\97\25\39\ae\b2\12\0e\99\85\37\2b\bc\a0"
    "\00\10\b2\a2\8d\9d\3f\2f\6d\7d\df\cf\e0\f0\52\42\00\44\89\cd\f7\b3\7e\3a\0b\4f\82\c6\fc\b8\75\31"
    "\00\db\53\88\38\e3\6b\b0\ee\35\bd\66\d6\0d\85\5e\00\ab\bf\14\97\3c\28\83\55\fe\ea\41\c2\69\7d\d6"
    "\00\06\92\94\5e\58\cc\ca\b0\b6\22\24\ee\e8\7c\7a\00\89\fa\73\8e\07\74\fd\f4\7d\0e\87\7a\f3\80\09"
    "\00\46\8d\cb\f2\b4\7f\39\9e\d8\13\55\6c\2a\e1\a7\00\4b\05\4e\0b\40\0e\45\89\c2\8c\c7\82\c9\87\cc")

  ;; Folds half of each block, every other sixteen bytes, from the block at $at into that at $last.
  (func $fold (param $at i32) (param $last i32)
    (local $nibbles v128) (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local $low0 v128) (local $low1 v128) (local $low2 v128) (local $low3 v128)
    (local $high0 v128) (local $high1 v128) (local $high2 v128) (local $high3 v128)
    (local.set $nibbles (i8x16.splat (i32.const 15)))
    (local.set $s0 (v128.load offset=0 (local.get $at)))
    (local.set $s1 (v128.load offset=32 (local.get $at)))
    (local.set $s2 (v128.load offset=64 (local.get $at)))
    (local.set $s3 (v128.load offset=96 (local.get $at)))
    (loop $blocks
      (local.set $at (i32.add (local.get $at) (i32.const 128)))
      (local.set $low0 (v128.and (local.get $s0) (local.get $nibbles)))
      (local.set $high0 (v128.and (i16x8.shr_u (local.get $s0) (i32.const 4)) (local.get $nibbles)))
      (local.set $low1 (v128.and (local.get $s1) (local.get $nibbles)))
      (local.set $high1 (v128.and (i16x8.shr_u (local.get $s1) (i32.const 4)) (local.get $nibbles)))
      (local.set $low2 (v128.and (local.get $s2) (local.get $nibbles)))
      (local.set $high2 (v128.and (i16x8.shr_u (local.get $s2) (i32.const 4)) (local.get $nibbles)))
      (local.set $low3 (v128.and (local.get $s3) (local.get $nibbles)))
      (local.set $high3 (v128.and (i16x8.shr_u (local.get $s3) (i32.const 4)) (local.get $nibbles)))
      (local.set $s0
        (v128.xor
          (v128.load offset=0 (local.get $at))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1024 (i32.const 0)) (local.get $low0))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1040 (i32.const 0)) (local.get $high0))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1056 (i32.const 0)) (local.get $low1))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1072 (i32.const 0)) (local.get $high1))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1088 (i32.const 0)) (local.get $low2))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1104 (i32.const 0)) (local.get $high2))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1120 (i32.const 0)) (local.get $low3))
          (i8x16.relaxed_swizzle (v128.load offset=1136 (i32.const 0)) (local.get $high3)))))))))))
      (local.set $s1
        (v128.xor
          (v128.load offset=32 (local.get $at))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1152 (i32.const 0)) (local.get $low0))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1168 (i32.const 0)) (local.get $high0))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1184 (i32.const 0)) (local.get $low1))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1200 (i32.const 0)) (local.get $high1))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1216 (i32.const 0)) (local.get $low2))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1232 (i32.const 0)) (local.get $high2))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1248 (i32.const 0)) (local.get $low3))
          (i8x16.relaxed_swizzle (v128.load offset=1264 (i32.const 0)) (local.get $high3)))))))))))
      (local.set $s2
        (v128.xor
          (v128.load offset=64 (local.get $at))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1280 (i32.const 0)) (local.get $low0))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1296 (i32.const 0)) (local.get $high0))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1312 (i32.const 0)) (local.get $low1))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1328 (i32.const 0)) (local.get $high1))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1344 (i32.const 0)) (local.get $low2))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1360 (i32.const 0)) (local.get $high2))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1376 (i32.const 0)) (local.get $low3))
          (i8x16.relaxed_swizzle (v128.load offset=1392 (i32.const 0)) (local.get $high3)))))))))))
      (local.set $s3
        (v128.xor
          (v128.load offset=96 (local.get $at))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1408 (i32.const 0)) (local.get $low0))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1424 (i32.const 0)) (local.get $high0))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1440 (i32.const 0)) (local.get $low1))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1456 (i32.const 0)) (local.get $high1))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1472 (i32.const 0)) (local.get $low2))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1488 (i32.const 0)) (local.get $high2))
          (v128.xor (i8x16.relaxed_swizzle (v128.load offset=1504 (i32.const 0)) (local.get $low3))
          (i8x16.relaxed_swizzle (v128.load offset=1520 (i32.const 0)) (local.get $high3)))))))))))
      (br_if $blocks (i32.lt_u (local.get $at) (local.get $last))))
    (v128.store offset=0 (local.get $at) (local.get $s0))
    (v128.store offset=32 (local.get $at) (local.get $s1))
    (v128.store offset=64 (local.get $at) (local.get $s2))
    (v128.store offset=96 (local.get $at) (local.get $s3)))

  ;; Goes on from $crc over bytes [$at, $end).
  (func (export "extend") (param $crc i32) (param $at i32) (param $end i32) (result i32)
    (local $last i32)
    (if (i32.ge_u (i32.sub (local.get $end) (local.get $at)) (i32.const 256))
      (then
        (i32.store (local.get $at) (i32.xor (local.get $crc) (i32.load (local.get $at))))
        (local.set $crc (i32.const 0))
        (local.set $last
          (i32.add
            (local.get $at)
            (i32.and (i32.sub (i32.sub (local.get $end) (local.get $at)) (i32.const 128)) (i32.const -128))))
        (call $fold (local.get $at) (local.get $last))
        (call $fold (i32.add (local.get $at) (i32.const 16)) (i32.add (local.get $last) (i32.const 16)))
        (local.set $at (local.get $last))))
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
