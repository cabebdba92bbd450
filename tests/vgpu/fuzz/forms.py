"""Instructions in every form that the engine takes, and kernels that are made of them, each by a number.

A line of FORMS is one form, or a few instructions that belong together. <a|b> in it is one of several
spellings. $r, $h, $d, $f, $e, $p and $q are registers: of 32, 16 or 64 bits, of f32, of f64, predicates, of
128 bits; $i is a register or a number, $t a register of 32 bits of any type, $O a second result or none.
$G, $S, $L, $N and $C are addresses in global, shared, local, generic and constant memory. $U is a number that
no other label has.
"""

from __future__ import annotations

import random
import re

from words import Seed

FORMS = """
<add|sub><|.sat>.s32 $r, $r, $i
<add|sub|mul.lo|mul.hi|div|rem|min|max>.<u32|s32> $r, $r, $i
<add|sub|mul.lo|mul.hi|div|rem|min|max>.<u16|s16> $h, $h, $h
<add|sub|mul.lo|mul.hi|div|rem|min|max>.<u64|s64> $d, $d, $d
<add|min|max>.<u16x2|s16x2> $r, $r, $r
<min|max>.relu.<s32|s16x2> $r, $r, $r
mul.wide.<u16|s16> $r, $h, $h
mul.wide.<u32|s32> $d, $r, $i
mad.<lo|hi>.<u32|s32> $r, $r, $i, $r
mad.hi.sat.s32 $r, $r, $r, $r
mad.<lo|hi>.<u16|s16> $h, $h, $h, $h
mad.<lo|hi>.<u64|s64> $d, $d, $d, $d
mad.wide.<u32|s32> $d, $r, $r, $d
mad.wide.<u16|s16> $r, $h, $h, $r
mul24.<lo|hi>.<u32|s32> $r, $r, $r
mad24.<lo|hi>.<u32|s32> $r, $r, $r, $r
sad.<u32|s32> $r, $r, $r, $r
sad.<u64|s64> $d, $d, $d, $d
<abs|neg>.<s32> $r, $r
<abs|neg>.s64 $d, $d
<abs|neg>.s16 $h, $h
<add|sub>.cc.<u32|s32> $r, $r, $r; <addc|subc><|.cc>.<u32|s32> $r, $r, $r
add.cc.u64 $d, $d, $d; <addc|subc><|.cc>.u64 $d, $d, $d
mad.<lo|hi>.cc.u32 $r, $r, $r, $r; madc.<lo|hi><|.cc>.u32 $r, $r, $r, $r
dp4a.<u32|s32>.<u32|s32> $r, $r, $r, $r
dp2a.<lo|hi>.<u32|s32>.<u32|s32> $r, $r, $r, $r
bfind<|.shiftamt>.<u32|s32> $r, $r
bfind<|.shiftamt>.<u64|s64> $r, $d
szext.<clamp|wrap>.<u32|s32> $r, $r, $i
<vadd|vsub|vabsdiff|vmin|vmax>.<s32|u32>.<s32|u32>.<s32|u32><|.sat> $r, $r<|.b0|.b3|.h1>, $r<|.b1|.h0>
vadd.s32.u32.s32.<add|min|max> $r, $r, $r.b2, $r
<vshl|vshr>.u32.u32.u32.<clamp|wrap> $r, $r, $r
vset.<s32|u32>.<s32|u32>.<lt|eq|ge> $r, $r, $r.h1
<vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2>.<s32|u32>.<s32|u32>.<s32|u32><|.sat|.add> $r, $r, $r, $r
vset2.<s32|u32>.<s32|u32>.<lt|ne><|.add> $r, $r, $r, $r
<vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4>.<s32|u32>.<s32|u32>.<s32|u32><|.sat|.add> $r, $r, $r, $r
vset4.<s32|u32>.<s32|u32>.<gt|ne><|.add> $r, $r, $r, $r
vmad.<s32|u32>.<s32|u32>.<s32|u32><|.sat><|.shr7|.shr15> $r, $r.b1, $r.h0, $r
<and|or|xor>.b32 $r, $r, $i
<and|or|xor>.b16 $h, $h, $h
<and|or|xor>.b64 $d, $d, $d
<and|or|xor>.pred $p, $p, $p
<not|cnot>.b32 $r, $r
<not|cnot>.b16 $h, $h
<not|cnot>.b64 $d, $d
not.pred $p, $p
<shl.b32|shr.u32|shr.s32> $r, $r, $i
<shl.b16|shr.u16|shr.s16> $h, $h, $i
<shl.b64|shr.u64|shr.s64> $d, $d, $i
<popc|clz|brev>.b32 $r, $r
<popc|clz>.b64 $r, $d
brev.b64 $d, $d
bfe.<u32|s32> $r, $r, $i, $i
bfe.<u64|s64> $d, $d, $i, $i
bfi.b32 $r, $r, $r, $i, $i
bfi.b64 $d, $d, $d, $i, $i
bmsk.<clamp|wrap>.b32 $r, $i, $i
fns.b32 $r, $r, $i, $i
lop3.b32 $r, $r, $r, $r, <0x96|0xe8|0|255>
lop3.<or|and>.b32 $r|$p, $r, $r, $r, 0x3c, $p
prmt.b32<|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16> $r, $r, $r, $i
shf.<l|r>.<clamp|wrap>.b32 $r, $r, $r, $i
<add|sub|mul><|.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 $f, $f, $f
<add|sub|mul><|.rn|.rz|.rm|.rp>.f64 $e, $e, $e
fma<.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 $f, $f, $f, $f
fma<.rn|.rz|.rm|.rp>.f64 $e, $e, $e, $e
div.<rn|rz|rm|rp|approx|full>.f32 $f, $f, $f
div.<rn|rz|rm|rp>.f64 $e, $e, $e
<min|max><|.ftz><|.NaN|.xorsign.abs|.NaN.xorsign.abs>.f32 $f, $f, $f
<min|max>.f64 $e, $e, $e
<abs|neg><|.ftz>.f32 $f, $f
<abs|neg>.f64 $e, $e
copysign.f32 $f, $f, $f
copysign.f64 $e, $e, $e
<add|sub|mul>.<f16|bf16> $h, $h, $h
<add|sub|mul>.<f16x2|bf16x2> $r, $r, $r
fma.rn<|.ftz><|.sat|.relu>.f16 $h, $h, $h, $h
fma.rn<|.relu>.bf16x2 $r, $r, $r, $r
<min|max><|.NaN|.NaN.xorsign.abs|.xorsign.abs>.<f16|bf16> $h, $h, $h
<min|max><|.NaN>.<f16x2|bf16x2> $r, $r, $r
<abs|neg>.<f16|bf16> $h, $h
<abs|neg>.<f16x2|bf16x2> $r, $r
<sin|cos|lg2|ex2|rcp|rsqrt|sqrt>.approx<|.ftz>.f32 $f, $f
<rcp|sqrt>.<rn|rz|rm|rp>.f32 $f, $f
<rcp|sqrt>.<rn|rz|rm|rp>.f64 $e, $e
<rcp.approx.ftz|rsqrt.approx.ftz|rsqrt.approx>.f64 $e, $e
tanh.approx.f32 $f, $f
<ex2|tanh>.approx.f16 $h, $h
<ex2|tanh>.approx.f16x2 $r, $r
<ex2.approx.ftz|tanh.approx>.bf16 $h, $h
cvt.<u16|s16>.<u32|s32> $h, $r
cvt.<u32|s32>.<u8|s8|u16|s16> $r, $h
cvt.<u64|s64>.<u32|s32> $d, $r
cvt<|.sat>.<u32|s32>.<u64|s64> $r, $d
cvt<.rni|.rzi|.rmi|.rpi><|.ftz><|.sat>.<u32|s32>.f32 $r, $f
cvt<.rni|.rzi|.rmi|.rpi>.<u64|s64>.f64 $d, $e
cvt<.rni|.rzi|.rmi|.rpi>.<u8|s8|u16|s16>.<f16|bf16> $h, $h
cvt.<rn|rz|rm|rp><|.sat>.f32.<u32|s32> $f, $r
cvt.<rn|rz|rm|rp>.f64.<u64|s64> $e, $d
cvt.<rn|rz>.f16.<u16|s16> $h, $h
cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f32.f64 $f, $e
cvt<|.ftz>.f64.f32 $e, $f
cvt.<rn|rz><|.relu>.<f16|bf16>.f32 $h, $f
cvt.f32.<f16|bf16> $f, $h
cvt.<rn|rz><|.relu>.<f16x2|bf16x2>.f32 $r, $f, $f
cvt.rna.tf32.f32 $r, $f
cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f32 $h, $f, $f
cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f16x2 $h, $r
cvt.rn<|.relu>.f16x2.<e4m3x2|e5m2x2> $r, $h
cvt.<rni|rzi|rmi|rpi>.f32.f32 $f, $f
cvt.<rni|rzi>.f16.f16 $h, $h
cvt.pack.sat.<u16|s16>.s32 $r, $r, $r
cvt.pack.sat.<u8|s8>.s32.b32 $r, $r, $r, $r
cvt.pack.sat.<u2|s2|u4|s4>.s32.b32 $r, $r, $r, $r
setp.<eq|ne|lt|le|gt|ge>.<u32|s32> $p$O, $r, $i
setp.<eq|ne|lo|hi|ls|hs>.u64 $p, $d, $d
setp.<eq|lt|geu|num|nan>.<and|or|xor>.f32 $p|$p, $f, $f, <|!>$p
setp.<eq|lt|neu>.f64 $p, $e, $e
setp.<lt|gtu>.f16x2 $p|$p, $r, $r
set.<lt|nan>.<u32|s32|f32>.f32 $t, $f, $f
set.<lt|ge>.f16x2.f16x2 $r, $r, $r
testp.<finite|infinite|number|notanumber|normal|subnormal>.f32 $p, $f
testp.<finite|subnormal>.f64 $p, $e
selp.b32 $r, $r, $i, $p
selp.b64 $d, $d, $d, $p
slct.b32.<s32> $r, $r, $r, $r
slct.b64.f32 $d, $d, $d, $f
mov.u32 $r, <%tid.x|%tid.y|%ntid.x|%ctaid.x|%nctaid.z|%laneid|%warpid|%smid|%clock|%lanemask_lt|%lanemask_ge|%nwarpid>
mov.u64 $d, <%clock64|%gridid|%globaltimer>
mov.pred $p, <0|1|$p>
mov.b64 {$r, $r}, $d
mov.b64 {$r, _}, $d
mov.b64 $d, {$h, $h, $h, $h}
mov.b32 {$h, $h}, $r
mov.b32 $r, {$h, $h}
mov.b32 $f, $r
mov.b64 $e, $d
mov.b128 {$d, $d}, $q
mov.b128 $q, {$d, $d}
mov.u64 $d, <s|l|g|c|twice|format>
cvta.<global|shared|local|const>.u64 $d, $d
cvta.to.<global|shared|local|const>.u64 $d, $d
isspacep.<global|shared|local|const> $p, %na$1
ld<|.volatile|.relaxed.gpu|.acquire.cta|.weak>.global.<u32|s32|b32> $r, $G
ld.global<.nc|.ca|.cg|.cs|.L1::evict_last|.nc.L2::128B>.<u8|s8|u16|b16> $h, $G
ld.global.<u64|b64> $d, $G
ld.global.v2.u32 {$r, $r}, $G
ld.global.v4.<f32> {$f, _, $f, $f}, $G
ld.global.v2.b64 {$d, $d}, $G
ld.global.v4.b64 {$d, $d, $d, $d}, $G
ld.global.b128 $q, $G
ldu.global.u32 $r, $G
ld<|.volatile>.shared.<u32|s32> $r, $S
ld.shared.v4.u32 {$r, $r, $r, $r}, $S
ld.shared.<u8|s8> $h, $S
ld.shared.b64 $d, $S
ld.local.<u32|s32> $r, $L
ld.local.v2.b64 {$d, $d}, $L
ld.const.<u32|s32> $r, $C
ld.param.u64 $d, [<a|b>]
ld.param.u32 $r, [n]
ld<|.acquire.gpu|.relaxed.sys|.volatile>.u32 $r, $N
ld.v2.u32 {$r, $r}, $N
st<|.volatile|.relaxed.gpu|.release.cta|.wb|.cs>.global.<u32|s32> $G, $r
st.global.<u8|u16> $G, $h
st.global.v4.u32 $G, {$r, $r, $r, $r}
st.global.v2.b64 $G, {$d, $d}
st.global.b128 $G, $q
st<|.volatile>.shared.u32 $S, $r
st.shared.v2.u32 $S, {$r, $r}
st.shared.u8 $S, $h
st.local.u32 $L, $r
st.local.v4.f32 $L, {$f, $f, $f, $f}
st<|.release.gpu>.u32 $N, $r
st.u64 $N, $d
atom<|.relaxed.gpu|.acq_rel.sys|.acquire.cta><.global>.<add|min|max>.<u32|s32> $r, $G, $i
atom<|.acq_rel.gpu>.global.<and|or|xor|exch>.b32 $r, $G, $r
atom.global.<inc|dec>.u32 $r, $G, $r
atom.global.cas.b32 $r, $G, $r, $i
atom.global.cas.b16 $h, $G, $h, $h
atom.global.<add|min|max>.u64 $d, $G, $d
atom.global.<exch|and>.b64 $d, $G, $d
atom.global.cas.b64 $d, $G, $d, $d
atom.global.exch.b128 $q, $G, $q
atom.global.cas.b128 $q, $G, $q, $q
atom.global.add.f32 $f, $G, $f
atom.global.add.f64 $e, $G, $e
atom.global.add.noftz.<f16|bf16> $h, $G, $h
atom.global.add.noftz.<f16x2|bf16x2> $r, $G, $r
atom.global.add.v4.f32 {$f, $f, $f, $f}, $G, {$f, $f, $f, $f}
atom.global.<add|max>.noftz.v2.bf16x2 {$r, $r}, $G, {$r, $r}
atom.shared.<add|min|max>.<u32|s32> $r, $S, $i
atom.shared.cas.b32 $r, $S, $r, $r
atom.shared.<exch|or>.b64 $d, $S, $d
atom.shared.add.f32 $f, $S, $f
atom.add.u32 $r, $N, $r
atom.cas.b32 $r, $N, $r, $r
red<|.relaxed.gpu>.global.<add|min|max>.<u32|s32> $G, $r
red.global.add.f32 $G, $f
red.shared.<and|xor>.b32 $S, $r
cp.async.ca.shared.global $S, $G, <4|8|16>
cp.async.cg.shared.global<|.L2::128B> $S, $G, 16<|, $i>
cp.async.ca.shared.global $S, $G, 8, $p
cp.async.commit_group
cp.async.wait_group <0|1|3>
cp.async.wait_all
cp.async.ca.shared.global $S, $G, 16; cp.async.commit_group; cp.async.wait_group 0
cp.async.mbarrier.arrive<|.noinc>.shared.b64 [barriers]
mbarrier.init.shared.b64 [barriers+<8|16>], <1|64|$r>
mbarrier.arrive<|.noComplete|.release.cta>.shared.b64 $d, [barriers]<|, 1>
mbarrier.arrive_drop.shared.b64 $d, [barriers]
mbarrier.arrive.expect_tx.shared.b64 $d, [barriers], <0|16|$r>
mbarrier.<test_wait|try_wait>.shared.b64 $p, [barriers], $d
mbarrier.<test_wait|try_wait>.parity.shared.b64 $p, [barriers], <0|1|$r>
mbarrier.pending_count.b64 $r, $d
mbarrier.<expect_tx|complete_tx>.relaxed.cta.shared::cta.b64 [barriers+<0|8>], <16|$r>
mbarrier.inval.shared.b64 [barriers+16]
mbarrier.arrive.shared.b64 $d, [barriers]; L$U: mbarrier.try_wait.shared.b64 $p, [barriers], $d; @!$p bra L$U
bar.sync <0|1|0, 64|1, 32>
barrier.sync<|.aligned> <0|2|3, 64>
bar.arrive <1|2>, 64
bar.red.popc.u32 $r, <0|1, 64>, $p
bar.red.<and|or>.pred $p, 0, <|!>$p
mapa.<shared::cluster.u32 $r, $r|u64 $d, $d>, <0|1|$r>
getctarank.<shared::cluster.u32 $r, $r|u64 $r, $d>
elect.sync $r|$p, <-1|-1|0xff|$r>
setmaxnreg.<inc|dec>.sync.aligned.u32 <24|40|232>
barrier.cluster.arrive<|.release|.relaxed><|.aligned>; barrier.cluster.wait<|.acquire><|.aligned>
barrier.cluster.<arrive|wait>
mov.u32 $r, %<clusterid.x|nclusterid.y|cluster_ctaid.x|cluster_nctaid.z|cluster_ctarank|cluster_nctarank>
mov.pred $p, %is_explicit_cluster
ld.shared::cluster.u32 $r, <$S|[$r]>
st.shared::cluster.v2.u32 $S, {$r, $r}
atom.shared::cluster.add.u32 $r, <$S|[$r]>, $r
fence.<mbarrier_init.release.cluster|proxy.async|proxy.async.shared::cta|proxy.tensormap::generic.acquire.gpu>
mbarrier.arrive.release.cluster.shared::cluster.b64 _, <[barriers]|[$r]>
mbarrier.arrive.expect_tx.shared::cta.b64 _, [barriers], <16|1024>; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+<0|16|1024>], $G, <16|256|$r>, [barriers]
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], $G, 16, [barriers], <1|3|$h>
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [s+512], [s], <32|$r>, [barriers]
cp.async.bulk.global.shared::cta.bulk_group $G, [s+<0|64>], <16|128|$r>
cp.reduce.async.bulk.global.shared::cta.bulk_group.<add|min|max>.<u32|s32> $G, [s], <16|$r>
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.<f32|f64|noftz.f16|noftz.bf16> $G, [s], 32
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.<and|or|xor>.b32 [s], [s+64], 16, [barriers]
cp.async.bulk.commit_group
cp.async.bulk.wait_group<|.read> <0|1>
cp.async.bulk.prefetch.L2.global $G, 16
st.async.shared::cluster.mbarrier::complete_tx::bytes<.b32 $S, $r|.b64 $S, $d|.v2.b32 $S, {$r, $r}>, [barriers]
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.<add|inc|min>.u32 $S, $r, [barriers]
cp.async.bulk.tensor.<1d|2d>.shared::cluster.global.mbarrier::complete_tx::bytes [s], [$d, {<$r|$r, $r>}], [barriers]
tensormap.replace.tile.global_address.shared::cta.b1024.b64 [s], $d; tensormap.replace.tile.rank.shared::cta.b1024.b32 [s], <0|1|$r>; tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [s], <0|1>, <16|$r>; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [s], 0, 64; tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [s], <0|3|$r>; cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [s+1024], [%na1, {<0|$r>}], [barriers]
tensormap.replace.tile.<box_dim|element_stride|global_dim>.global.b1024.b32 $G, <0|4>, $r
cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%na1, {<0|$r>}], [s+1024]
wgmma.fence.sync.aligned
wgmma.commit_group.sync.aligned
wgmma.wait_group.sync.aligned <0|1>
bar.warp.sync <-1|0xffff|$r>
<membar.cta|membar.gl|membar.sys|fence.acq_rel.gpu|fence.sc.cta|fence.proxy.async>
shfl.sync.<up|down|idx|bfly>.b32 $r$O, $r, $i, <0|31|0x1c03>, <-1|-1|0xffff|$r>
vote.sync.<all|any|uni>.pred $p, $p, -1
vote.sync.ballot.b32 $r, <|!>$p, -1
match.any.sync.b32 $r, $r, -1
match.all.sync.b64 $r|$p, $d, -1
redux.sync.<add|min|max>.<u32|s32> $r, $r, <-1|0xff>
redux.sync.<and|or|xor>.b32 $r, $r, -1
activemask.b32 $r
movmatrix.sync.aligned.m8n8.trans.b16 $r, $r
ldmatrix.sync.aligned.m8n8.x1<|.trans>.shared.b16 {$r}, $S
ldmatrix.sync.aligned.m8n8.x4<|.trans>.shared.b16 {$r, $r, $r, $r}, $S
stmatrix.sync.aligned.m8n8.x2<|.trans>.shared.b16 $S, {$r, $r}
nanosleep.u32 $i
createpolicy.fractional.L2::evict_first.b64 $d<|, 0.5>
<prefetch.global.L1|discard.global.L2|applypriority.global.L2::evict_normal> $G<|, 128>
pmevent 7
griddepcontrol.<wait|launch_dependents>
@<|!>$p bra E$U; <add.s32 $r, $r, $i|bar.sync 0|st.shared.u32 $S, $r|shfl.sync.idx.b32 $r, $r, 0, 31, -1>; E$U: mov.u32 $r, $r
mov.u32 $r, 0; L$U: add.u32 %r7, %r7, 1; setp.lt.u32 $p, %r7, <9|$r>; @$p bra L$U
and.b32 %r6, $r, 3; T$U: .branchtargets E$U, F$U, E$U, F$U; brx.idx %r6, T$U; E$U: add.s32 $r, $r, 1; F$U: mov.u32 $r, $r
<@$p |><exit|ret>
@$p <trap|brkpt>
{ .param .b32 x; .param .b32 y; st.param.b32 [x], $r; call<|.uni> (y), <twice|deep>, (x); ld.param.b32 $r, [y]; }
{ .param .b32 x; .param .b32 y; .reg .b64 %to; mov.u64 %to, <twice|deep>; st.param.b32 [x], $r; P$U: .callprototype (.param .b32 _) _ (.param .b32 _); call (y), %to, (x), P$U; ld.param.b32 $r, [y]; }
{ .param .b64 f; .param .b64 v; .param .b32 y; .reg .b64 %to; mov.u64 %to, format; st.param.b64 [f], %to; mov.u64 %to, l; cvta.local.u64 %to, %to; st.param.b64 [v], %to; call (y), vprintf, (f, v); }
{ .param .b64 n; .param .b64 v; st.param.b64 [n], <$d|16>; call (v), malloc, (n); ld.param.b64 $d, [v]; }
{ .param .b64 n; .param .b64 v; st.param.b64 [n], 24; call (v), malloc, (n); ld.param.b64 %d7, [v]; st.u32 [%d7+<0|20|24>], $r; st.param.b64 [n], %d7; call free, (n); }
{ .param .b64 v; st.param.b64 [v], $d; call free, (v); }
"""  # noqa: E501


def _products() -> list[str]:
    """Returns mma in its shapes and types: as many registers as a lane's share of each matrix takes."""
    lines: list[str] = []
    shapes: list[tuple[str, int, int, tuple[int, ...], str]] = [
        ("<f16.f16.f16.f16>", 16, 16, (8, 16), "halves"),
        ("f32.<f16.f16|bf16.bf16>.f32", 16, 32, (8, 16), "$f"),
        ("f32.tf32.tf32.f32", 32, 32, (4, 8), "$f"),
        ("f32.<e4m3|e5m2>.<e4m3|e5m2>.f32", 8, 32, (16, 32), "$f"),
        ("s32.<s8|u8>.<s8|u8>.s32", 8, 32, (16, 32), "$r"),
        ("s32.<s4|u4>.<s4|u4>.s32", 4, 32, (32, 64), "$r"),
        ("f64.f64.f64.f64", 64, 64, (4, 8, 16), "$e"),
    ]
    for kinds, bits, sum_bits, depths, register in shapes:
        for depth in depths:
            unit = max(32, bits)
            left, right = (rows * depth * bits // 32 // unit for rows in (16, 8))
            sums = 16 * 8 * sum_bits // 32 // max(32, sum_bits)
            element = "$e" if bits == 64 else "$r"
            sum_register = "$r" if register == "halves" else register
            a, b, c, d = (
                "{" + ", ".join([name] * count) + "}"
                for name, count in (
                    (element, left),
                    (element, right),
                    (sum_register, sums),
                    (sum_register, sums),
                )
            )
            saturated = "<|.satfinite>" if kinds.startswith("s32") else ""
            name = f"mma.sync.aligned.m16n8k{depth}.row.col{saturated}.{kinds}"
            lines.append(f"{name} {d}, {a}, {b}, {c}")
    four = "{" + ", ".join(["$r"] * 4) + "}"
    for kinds, k, options in (
        ("f32.f16.f16", 16, ", <1|-1>, 1, <0|1>, <0|1>"),
        ("f32.bf16.bf16", 16, ", 1, 1, 0, 0"),
        ("f32.tf32.tf32", 8, ", 1, <1|-1>"),
        ("f32.e4m3.e5m2", 32, ", 1, 1"),
        ("s32.s8.u8", 32, ""),
    ):
        register = "$r" if kinds.startswith("s32") else "$f"
        sums = "{" + ", ".join([register] * 4) + "}"
        lines.append(f"wgmma.mma_async.sync.aligned.m64n8k{k}.{kinds} {sums}, $d, $d, $p{options}")
    lines.append(
        f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{$f, $f, $f, $f}}, {four}, $d, 1, 1, 1, 0; "
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0"
    )
    lines.append(
        "mma.sync.aligned.m8n8k4.<row|col>.<row|col>.f32.f16.f16.f32 "
        "{$f, $f, $f, $f, $f, $f, $f, $f}, {$r, $r}, {$r, $r}, {$f, $f, $f, $f, $f, $f, $f, $f}"
    )
    lines.append(
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.<xor|and>.popc "
        "{$r, $r, $r, $r}, {$r, $r, $r, $r}, {$r, $r}, {$r, $r, $r, $r}"
    )
    eight = "{" + ", ".join(["$r"] * 8) + "}"
    floats = "{" + ", ".join(["$f"] * 8) + "}"
    lines += [
        f"wmma.load.<a|b>.sync.aligned.<row|col>.<m16n16k16|m32n8k16>.shared.f16 {eight}, $S, <16|32|$r>",
        f"wmma.load.<a|b>.sync.aligned.<row|col>.m16n16k16<|.global>.f16 {eight}, <$G|$N>, <16|32|$r>",
        "wmma.load.<a|b>.sync.aligned.<row|col>.m16n16k16.global.bf16 {$r, $r, $r, $r}, $G, 16",
        f"wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {floats}, $G, 16",
        f"wmma.mma.sync.aligned.<row|col>.<row|col>.m16n16k16.f32.f32 {floats}, {eight}, {eight}, {floats}",
        f"wmma.store.d.sync.aligned.<row|col>.m16n16k16.shared.f32 $S, {floats}, 16",
        f"wmma.store.d.sync.aligned.<row|col>.m16n16k16<|.global>.f32 <$G|$N>, {floats}, 16",
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32<|.satfinite> {$r, $r}, {$r}, {$r}, {$r, $r}",
    ]
    return lines


LINES = tuple(line for line in FORMS.splitlines() if line) + tuple(_products())
_CHOICE = re.compile(r"<([^<>]*)>")
_TOKEN = re.compile(r"\$([a-zA-Z1])")

REGISTERS = """\t.reg .pred %p<4>;
\t.reg .b16 %h<6>;
\t.reg .b32 %r<8>;
\t.reg .f32 %f<8>;
\t.reg .b64 %d<8>;
\t.reg .f64 %e<6>;
\t.reg .b128 %q<3>;
\t.reg .b64 %ga<2>;
\t.reg .b32 %sa<2>;
\t.reg .b64 %la<2>;
\t.reg .b64 %na<3>;
\t.shared .align 16 .b8 s[4096];
\t.shared .align 8 .b64 barriers[4];
\t.local .align 16 .b8 l[256];
"""
HEAD = """.version 9.0
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.global .align 16 .b8 g[1024];
.const .align 16 .b32 c[64] = {1, 2, 3, 4, 5};
.global .b8 format[16] = {37, 100, 32, 37, 53, 102, 10, 0};
.func (.param .b32 y) twice (.param .b32 x)
{
\t.reg .b32 %r<2>;
\tld.param.b32 %r0, [x];
\tshl.b32 %r0, %r0, 1;
\tst.param.b32 [y], %r0;
\tret;
}
.func (.param .b32 y) deep (.param .b32 x)
{
\t.reg .b32 %r<3>;
\t.reg .pred %p<1>;
\tld.param.b32 %r0, [x];
\tand.b32 %r0, %r0, 15;
\tsetp.eq.u32 %p0, %r0, 0;
\t@%p0 bra DONE;
\tsub.u32 %r1, %r0, 1;
\t{ .param .b32 to; .param .b32 of; st.param.b32 [to], %r1; call (of), deep, (to); ld.param.b32 %r0, [of]; }
DONE:
\tst.param.b32 [y], %r0;
\tret;
}
.visible .entry made(.param .u64 a, .param .u64 b, .param .u32 n)
{
"""
BODY = """\tmov.u32 %r0, %tid.x;
\tld.param.u64 %ga0, [a];
\tld.param.u64 %ga1, [b];
\tmad.wide.u32 %ga0, %r0, 16, %ga0;
\tmov.u32 %sa0, s;
\tmad.lo.u32 %sa1, %r0, 16, %sa0;
\tmov.u64 %la0, l;
\tmov.u64 %la1, l;
\tcvta.global.u64 %na0, %ga0;
\tcvt.u64.u32 %na1, %sa1;
\tcvta.shared.u64 %na1, %na1;
\tcvta.local.u64 %na2, %la0;
\tld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%ga0];
\tld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%ga1];
\tld.global.v2.u64 {%d0, %d1}, [%ga0];
\tld.global.v2.f64 {%e0, %e1}, [%ga1];
\tsetp.lt.u32 %p0, %r0, 16;
\tsetp.ne.u32 %p1, %r1, %r2;
\tst.shared.v4.u32 [%sa1], {%r1, %r2, %r3, %r4};
\tst.local.v4.u32 [l], {%r1, %r2, %r3, %r4};
\tsetp.eq.u32 %p2, %r0, 0;
\t@%p2 mbarrier.init.shared.b64 [barriers], 64;
\tbar.sync 0;
"""

_COUNTS = {"p": 4, "h": 6, "r": 8, "f": 8, "d": 8, "e": 6, "q": 3}
_NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "5",
    "8",
    "16",
    "31",
    "32",
    "33",
    "-1",
    "255",
    "65535",
    "0x80000000",
    "2147483647",
)


def _address(space: str, choose: random.Random) -> str:
    offset = 16 * choose.randrange(choose.choice((1, 4, 64)))
    if space == "G":
        return f"[%ga{choose.randrange(2)}+{offset}]" if choose.random() < 0.9 else f"[g+{offset}]"
    if space == "S":
        return f"[%sa{choose.randrange(2)}+{offset}]" if choose.random() < 0.8 else f"[s+{offset}]"
    base = {"L": choose.choice(("l", "%la1")), "C": "c", "N": f"%na{choose.randrange(3)}"}[space]
    return f"[{base}+{offset % 256}]"


def form_of(line: str, choose: random.Random, number: int) -> str:
    """Returns an instruction, or a few, of the form in a line; labels in it carry the number."""
    while (place := _CHOICE.search(line)) is not None:
        line = line[: place.start()] + choose.choice(place[1].split("|")) + line[place.end() :]

    def filled(place: re.Match[str]) -> str:
        kind = place[1]
        if kind == "U":
            return str(number)
        if kind == "O":
            return choose.choice(("", f"|%p{choose.randrange(4)}"))
        if kind in _COUNTS:
            return f"%{kind}{choose.randrange(_COUNTS[kind])}"
        if kind == "i":
            return choose.choice(_NUMBERS) if choose.random() < 0.6 else f"%r{choose.randrange(8)}"
        if kind == "t":
            return choose.choice(("%r5", "%f5"))
        return str(choose.randrange(3)) if kind == "1" else _address(kind, choose)

    text = _TOKEN.sub(filled, line).replace("; ", ";\n\t")
    if text[0] in "{@" or ":" in text.split(maxsplit=1)[0]:
        return f"\t{text}{'' if text[0] == '{' else ';'}\n"
    guard = f"@{choose.choice(('', '!'))}%p{choose.randrange(4)} " if choose.random() < 0.1 else ""
    return f"\t{guard}{text};\n"


def drawn_form(choose: random.Random, number: int) -> str:
    """Returns an instruction, or a few, of any form."""
    return form_of(choose.choice(LINES), choose, number)


def made_module(number: int) -> Seed:
    """Returns the kernel of that number: three to twenty forms, one after the other."""
    choose = random.Random(number)
    lines = [drawn_form(choose, k) for k in range(choose.choice((3, 6, 12, 20)))]
    return Seed("made", f"{HEAD}{REGISTERS}{BODY}{''.join(lines)}\tret;\n}}\n", "made")


def in_scope(form: str, pointers: list[str]) -> str:
    """Returns a form with registers and memory of its own, to stand anywhere in a function with these
    pointers."""
    loads = "".join(
        f"\tld.param.u64 %ga{k}, [{name}];\n\tcvta.global.u64 %na{k}, %ga{k};\n"
        for k, name in enumerate(pointers[:2])
    )
    return f"\t{{\n{REGISTERS}{loads}\tmov.u32 %sa0, s;\n\tmov.u32 %sa1, s;\n{form}\t}}\n"
