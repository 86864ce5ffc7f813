"""The words of the reports, in English and Korean."""

from __future__ import annotations

from tooling.simulator.counters.sectors import SECTOR
from tooling.simulator.counters.traffic import Route, Traffic
from tooling.simulator.gpu.hooks import Space

_WORDS: dict[str, tuple[str, str]] = {
    "title": ("Profile of {what}", "{what} 프로파일"),
    "launches": ("{n} launches", "{n}회 실행"),
    "launch": ("1 launch", "1회 실행"),
    "faults": ("stopped by a fault {n}×: counts end there", "오류로 {n}회 중단: 거기까지만 셈"),
    "shape": ("grid {grid}, block {block}", "그리드 {grid}, 블록 {block}"),
    "occupancy": (
        "{shared:,} B shared per block, occupancy at most {share:.0%} (registers unknown)",
        "블록당 공유 메모리 {shared:,} B, 점유율 최대 {share:.0%} (레지스터는 알 수 없음)",
    ),
    "line": ("line", "줄"),
    "source": ("source", "소스"),
    "instructions": ("warp instr.", "워프 명령"),
    "lanes": ("lanes/instr.", "레인/명령"),
    "requests": ("global req.", "전역 요청"),
    "sectors": ("sectors/req.", "섹터/요청"),
    "use": ("bytes used", "쓰인 바이트"),
    "wavefronts": ("shared wavefronts", "공유 웨이브프런트"),
    "conflicts": ("conflicts", "충돌"),
    "local": ("local sectors", "로컬 섹터"),
    "barriers": ("barriers", "배리어"),
    "total": ("all lines", "전체"),
    "elsewhere": ("library code", "라이브러리 코드"),
    "no_launch": ("The program launched no kernel.", "프로그램이 커널을 실행하지 않았습니다."),
    "no_times": (
        "Counts only: no times are shown, because a time can only be measured on a real GPU.",
        "개수만 보여 줍니다. 시간은 실제 GPU에서만 잴 수 있으므로 표시하지 않습니다.",
    ),
    "ptx_note": (
        "Counted are PTX instructions; the GPU runs machine code made from them. So warp instructions differ "
        "from Nsight Compute's smsp__inst_executed, while requests, sectors, wavefronts and conflicts equal "
        "an H200's unless the assembler joins neighbouring accesses into wider ones.",
        "PTX 명령을 센 값이며, GPU는 이를 번역한 기계어를 실행합니다. 그래서 워프 명령 수는 Nsight Compute의 "
        "smsp__inst_executed와 다르지만 요청, 섹터, 웨이브프런트, 충돌 수는 H200과 같습니다. "
        "어셈블러가 이웃한 접근을 더 넓은 하나로 합치는 경우만 다릅니다.",
    ),
    "tile_lanes": ("active lanes per instruction", "명령당 활성 레인"),
    "tile_lanes_note": ("of 32; fewer: short warps or divergence", "최대 32. 적으면 짧은 워프 또는 분기"),
    "tile_sectors": ("sectors per global request", "전역 요청당 섹터"),
    "tile_sectors_note": ("{requests} requests, {sectors} sectors", "요청 {requests}개, 섹터 {sectors}개"),
    "tile_use": ("of the moved bytes are used", "옮긴 바이트 중 쓰인 비율"),
    "tile_use_note": ("{used} B used, {moved} B moved", "{used} B 사용, {moved} B 이동"),
    "tile_conflicts": ("shared-memory bank conflicts", "공유 메모리 뱅크 충돌"),
    "tile_conflicts_note": (
        "{wavefronts} wavefronts, {needed} are needed",
        "웨이브프런트 {wavefronts}개, 필요한 것은 {needed}개",
    ),
    "tile_barriers": ("barrier arrivals of warps", "워프의 배리어 도착"),
    "tile_barriers_note": ("{n} warp instructions in all", "워프 명령은 모두 {n}개"),
    "tile_local": ("local-memory sectors", "로컬 메모리 섹터"),
    "tile_local_note": (
        "if the compiler keeps it in memory",
        "컴파일러가 메모리에 남겨 두는 경우",
    ),
    "worst": ("dearest request: block {block}, warp {warp}", "가장 비싼 요청: 블록 {block}, 워프 {warp}"),
    "buffer": ("buffer {n}, {size} B", "{n}번 버퍼, {size} B"),
    "requests_here": ("{n} requests in all", "요청은 모두 {n}개"),
    "memory_axis": (
        "Each row is 128 bytes of memory: four 32-byte sectors. A number is the lane that touches the word; "
        "shaded sectors move.",
        "한 행은 메모리 128바이트, 곧 32바이트 섹터 4개입니다. 숫자는 그 워드에 접근하는 레인이고, "
        "칠해진 섹터가 옮겨집니다.",
    ),
    "bank_axis": (
        "Each column is a bank, each row a wavefront: one word from every bank at a time. A number is the "
        "lane that is served.",
        "열은 뱅크, 행은 웨이브프런트입니다. 한 번에 뱅크마다 워드 하나씩 처리합니다. 숫자는 처리되는 "
        "레인입니다.",
    ),
    "gap": ("{n} × 128 B untouched", "건드리지 않은 128 B × {n}"),
    "rest": ("{n} more like this", "이런 행이 {n}개 더"),
    "bank": ("bank", "뱅크"),
    "lanes_legend": ("lane 0 → lane 31", "레인 0 → 레인 31"),
    "unused": ("moved, but used by no lane", "옮겼지만 쓰는 레인이 없음"),
    "pictures": ("How the requests look", "요청의 모습"),
    "lines": ("Line by line", "줄별 통계"),
    "theme": ("Light or dark", "밝게 / 어둡게"),
    "pass": ("pass {n}", "패스 {n}"),
    "program_failed": (
        "the program ended with status {status}; what it did until then was counted",
        "프로그램이 상태 {status}(으)로 끝났습니다. 그때까지의 동작만 세었습니다",
    ),
    "not_launched": (
        "error: no kernel was launched, so nothing was counted",
        "오류: 실행된 커널이 없어 집계한 것이 없습니다",
    ),
    "memory_errors": (
        "{n} memory errors: `tooling run` shows them",
        "메모리 오류 {n}개: `tooling run`에서 확인합니다",
    ),
}

_ROUTES: dict[Route, tuple[str, str]] = {
    Route.GLOBAL_LOAD: ("global load", "전역 읽기"),
    Route.GLOBAL_STORE: ("global store", "전역 쓰기"),
    Route.GLOBAL_REDUCTION: ("global reduction", "전역 리덕션"),
    Route.GLOBAL_ATOMIC: ("global atomic", "전역 원자 연산"),
    Route.GLOBAL_ASYNC: ("asynchronous copy, global side", "비동기 복사(전역 쪽)"),
    Route.SHARED_LOAD: ("shared load", "공유 읽기"),
    Route.SHARED_STORE: ("shared store", "공유 쓰기"),
    Route.SHARED_ATOMIC: ("shared atomic", "공유 원자 연산"),
    Route.SHARED_ASYNC: ("asynchronous copy, shared side", "비동기 복사(공유 쪽)"),
    Route.LOCAL_LOAD: ("local load", "로컬 읽기"),
    Route.LOCAL_STORE: ("local store", "로컬 쓰기"),
}

_VERDICTS: dict[str, tuple[str, str]] = {
    "whole": (
        "Every byte of the {sectors} that move is used.",
        "옮겨지는 {sectors}의 모든 바이트가 쓰입니다.",
    ),
    "part": (
        "{use:.0%} of the bytes that move are used: {sectors} for {needed} worth of data. Let neighbouring "
        "lanes touch neighbouring addresses.",
        "옮겨지는 바이트의 {use:.0%}만 쓰입니다. {needed}에 담길 데이터에 {sectors}를 옮깁니다. "
        "이웃한 레인이 이웃한 주소에 접근하게 합니다.",
    ),
    "across": (
        "{use:.0%} of the bytes that move are used: the data lie side by side, but begin in the middle of a "
        "sector, so {sectors} move where {needed} would do.",
        "옮겨지는 바이트의 {use:.0%}만 쓰입니다. 데이터는 나란히 있지만 섹터 중간에서 시작해서, "
        "{needed}면 될 것을 {sectors} 옮깁니다.",
    ),
    "short": (
        "{use:.0%} of the bytes that move are used: the data fill {sectors} only in part.",
        "옮겨지는 바이트의 {use:.0%}만 쓰입니다. 데이터가 {sectors}의 일부만 채웁니다.",
    ),
    "free": ("No bank conflict: {fronts}.", "뱅크 충돌 없음: {fronts}."),
    "conflict": (
        "{fronts} where {needed} would do: lanes want different words of the same bank. A padding column or "
        "another order of indices spreads them.",
        "{needed}로 될 것이 {fronts} 걸립니다. 여러 레인이 같은 뱅크의 다른 워드를 원하기 때문입니다. "
        "열을 하나 덧붙이거나(패딩) 인덱스 순서를 바꾸면 흩어집니다.",
    ),
    "meet": (
        "{fronts} where {needed} would do: lanes that meet in a bank take effect one after the other.",
        "{needed}로 될 것이 {fronts} 걸립니다. 같은 뱅크에서 만난 레인은 하나씩 차례로 처리됩니다.",
    ),
}


def say(key: str, language: str, **values: object) -> str:
    """A phrase in a language (`en` or `ko`)."""
    return _WORDS[key][language == "ko"].format(**values)


def route_name(route: Route, language: str) -> str:
    """What a route is called."""
    return _ROUTES[route][language == "ko"]


def verdict(route: Route, one: Traffic, language: str, *, side_by_side: bool) -> tuple[str, str]:
    """What one request means, and what to try: a style (`good`, `warn`, `bad`) and a sentence.

    Args:
        one: the traffic of this request alone.
        side_by_side: whether the bytes that its lanes touch leave no gap.
    """
    korean = language == "ko"
    if route.space is Space.SHARED:
        key = "free"
        if one.conflicts:
            key = "meet" if route in (Route.SHARED_ATOMIC, Route.SHARED_ASYNC) else "conflict"
        needed = one.wavefronts - one.conflicts
        fronts = _count(one.wavefronts, "wavefront", "웨이브프런트 {}개", korean=korean)
        style = "good" if not one.conflicts else "warn" if one.ways <= 2 else "bad"
        return style, _VERDICTS[key][korean].format(fronts=fronts, needed=needed)
    needed = -(-one.used_bytes // SECTOR)
    if one.use >= 1:
        style, key = "good", "whole"
    elif one.sectors <= needed:
        style, key = "warn", "short"
    elif side_by_side and one.sectors == needed + 1:
        style, key = "warn", "across"
    else:
        style, key = "warn" if one.use > 0.5 else "bad", "part"
    sectors, least = (_count(n, "sector", "섹터 {}개", korean=korean) for n in (one.sectors, needed))
    return style, _VERDICTS[key][korean].format(use=one.use, sectors=sectors, needed=least)


def _count(number: int, noun: str, korean_form: str, *, korean: bool) -> str:
    if korean:
        return korean_form.format(number)
    return f"{number} {noun}{'' if number == 1 else 's'}"
