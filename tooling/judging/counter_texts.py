"""The sentences of a verdict by counters, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from tooling.catalog.model import Bound, CounterMetric
from tooling.simulator.counters.occupancy import Limit
from tooling.simulator.gpu.phrases import Phrase

FOUND: Mapping[CounterMetric, Phrase] = {
    CounterMetric.SECTORS_PER_REQUEST: Phrase(
        "`{kernel}` moves {counted:.3g} sectors per request{place}",
        "`{kernel}`은 요청 하나에 섹터 {counted:.3g}개를 옮깁니다{place}",
    ),
    CounterMetric.BYTES_USED: Phrase(
        "`{kernel}` uses {counted:.1%} of the bytes that it moves, {sectors:.3g} sectors per request{place}",
        "`{kernel}`은 옮긴 바이트의 {counted:.1%}만 씁니다. 요청 하나에 섹터 {sectors:.3g}개{place}",
    ),
    CounterMetric.BANK_CONFLICTS: Phrase(
        "`{kernel}` has {counted:,} bank conflicts: {ways:.3g} passes over the banks where 1 would do{place}",
        "`{kernel}`에 뱅크 충돌이 {counted:,}번 있습니다. 한 번이면 될 접근이 {ways:.3g}번 걸립니다{place}",
    ),
    CounterMetric.SHARED_BYTES: Phrase(
        "a block of `{kernel}` takes {counted:,} bytes of shared memory",
        "`{kernel}`의 블록 하나가 공유 메모리 {counted:,}바이트를 차지합니다",
    ),
    CounterMetric.SHARED_BLOCKS: Phrase(
        "a block of `{kernel}` takes {shared:,} bytes of shared memory, so a multiprocessor's {available:,} "
        "are enough for {counted} of them",
        "`{kernel}`의 블록 하나가 공유 메모리 {shared:,}바이트를 차지하므로, "
        "멀티프로세서의 {available:,}바이트에는 블록 {counted}개가 들어갑니다",
    ),
    CounterMetric.OCCUPANCY: Phrase(
        "`{kernel}` fills a multiprocessor to {counted:.0%} at most: {blocks} × {threads:,} threads fit, and "
        "the limit is {limit}",
        "`{kernel}`은 멀티프로세서를 많아야 {counted:.0%} 채웁니다. 스레드 {threads:,}개짜리 블록이 "
        "{blocks}개 들어가며, 막는 것은 {limit}입니다",
    ),
}
"""What was counted."""

WANTED: Mapping[Bound, Phrase] = {
    Bound.AT_LEAST: Phrase("at least {value}", "{value} 이상"),
    Bound.AT_MOST: Phrase("at most {value}", "{value} 이하"),
    Bound.EQUALS: Phrase("{value}", "{value}"),
}

ADVICE: Mapping[CounterMetric, Phrase] = {
    CounterMetric.SECTORS_PER_REQUEST: Phrase(
        "write down the element of lanes 0, 1 and 2 of a warp: neighbouring lanes belong on neighbouring "
        "elements; `tooling profile` draws the requests",
        "워프의 레인 0, 1, 2가 다루는 원소를 적어 봅니다. 이웃한 레인은 이웃한 원소를 맡아야 합니다. "
        "`tooling profile`이 요청의 모습을 그려 줍니다",
    ),
    CounterMetric.BYTES_USED: Phrase(
        "memory moves in sectors of 32 bytes: write down the addresses of lanes 0 to 31, and see how many "
        "sectors they touch and where the first one begins; `tooling profile` draws it",
        "메모리는 32바이트 섹터 단위로 옮겨집니다. 레인 0부터 31까지의 주소를 적어 섹터를 몇 개 건드리는지, "
        "첫 섹터가 어디서 시작하는지 봅니다. `tooling profile`이 그려 줍니다",
    ),
    CounterMetric.BANK_CONFLICTS: Phrase(
        "word i lies in bank i mod 32: work out the bank of each lane; lanes may share a word, not a bank",
        "워드 i는 뱅크 i mod 32에 있습니다. 레인마다 뱅크를 구해 봅니다. 워드는 함께 써도 되지만 "
        "뱅크는 겹치면 안 됩니다",
    ),
    CounterMetric.SHARED_BYTES: Phrase(
        "ask of each array in shared memory how many of its elements are still needed at any one time",
        "공유 메모리의 배열마다 한 시점에 아직 필요한 원소가 몇 개인지 따져 봅니다",
    ),
    CounterMetric.SHARED_BLOCKS: Phrase(
        "divide: a block costs its own bytes and 1,024 for the driver; what can be used again need not be "
        "there twice",
        "나누어 봅니다. 블록 하나는 자기 몫에 드라이버 몫 1,024바이트를 더해 차지합니다. 다시 쓸 수 "
        "있는 것은 두 벌 둘 필요가 없습니다",
    ),
    CounterMetric.OCCUPANCY: Phrase(
        "occupancy is resident warps out of 64 (registers are left out, since PTX does not tell them): "
        "spend less of what is named as the limit",
        "점유율은 워프 64개 중 올라가 있는 워프의 비율입니다. PTX로는 알 수 없는 레지스터는 셈하지 "
        "않았습니다. 막는 것으로 지목된 자원을 덜 씁니다",
    ),
}
"""What to try."""

LIMITS: Mapping[Limit, Phrase] = {
    Limit.WARPS: Phrase("the number of warps", "워프 수"),
    Limit.BLOCKS: Phrase("the number of blocks", "블록 수"),
    Limit.SHARED: Phrase("shared memory", "공유 메모리"),
    Limit.REGISTERS: Phrase("registers", "레지스터"),
}

PLACE = Phrase(" (mostly at {place}: `{source}`)", " (주로 {place}: `{source}`)")
MISSING = Phrase(
    "`{kernel}` was never launched, so there is nothing to count",
    "`{kernel}`이 실행되지 않아 셀 것이 없습니다",
)
STOPPED = Phrase(
    "`{kernel}` was stopped by an error, so its counts are incomplete",
    "`{kernel}`이 오류로 중단되어 센 값이 완전하지 않습니다",
)
NOT_JUDGED = Phrase(
    "this mode is judged by counters as well, and a run on {device} has none; the simulated GPU counts",
    "이 모드는 카운터로도 판정하는데, {device}에서 실행하면 카운터가 없습니다. 시뮬레이션 GPU는 셉니다",
)
