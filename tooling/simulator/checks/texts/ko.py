"""Korean sentences of the checks."""

from __future__ import annotations

from tooling.simulator.checks.texts.language import FindingLanguage, FindingText

_TEXTS = {
    "past-the-end": FindingText(
        "{buffer}의 끝을 {distance} 넘어서는 {bytes} {access}{element}",
        "그 자리는 이 버퍼의 것이 아닙니다. 실제 하드웨어에서는 다른 데이터를 읽거나 덮어쓰고, 커널이 "
        "중단되기도 합니다.",
        "`if i < size:`처럼 접근을 가드로 감싸고, 실행 구성과 버퍼의 크기가 의도한 값인지 확인합니다. 대개 "
        "스레드가 "
        "원소보다 많을 때 생깁니다.",
    ),
    "before-the-start": FindingText(
        "{buffer}의 시작보다 {distance} 앞에서 시작하는 {bytes} {access}",
        "그 자리는 이 버퍼의 것이 아닙니다. 실제 하드웨어에서는 다른 데이터를 읽거나 덮어쓰고, 커널이 "
        "중단되기도 합니다.",
        "인덱스가 음수가 되었습니다. 빼기 전에 `if i >= offset:`처럼 가드를 둡니다.",
    ),
    "outside-shared": FindingText(
        "{buffer}의 범위를 {distance} 벗어난 {bytes} {access}{element}",
        "배열은 그 앞에서 끝납니다. 실제 하드웨어에서는 커널이 중단되거나, 다른 공유 배열을 읽고 덮어씁니다.",
        "가장 큰 인덱스에 필요한 만큼(경계 원소까지 포함해) 할당하거나, 입력의 크기가 아니라 공유 배열의 "
        "크기로 "
        "인덱스를 제한합니다.",
    ),
    "before-shared": FindingText(
        "{buffer}의 시작보다 {distance} 앞에서 시작하는 {bytes} {access}{element}",
        "배열은 그 뒤에서 시작합니다. 실제 하드웨어에서는 커널이 중단되거나, 다른 공유 배열을 읽고 "
        "덮어씁니다.",
        "인덱스가 음수가 되었습니다. `max(i - offset, 0)`처럼 0에서 시작하게 하거나, 빼기 전에 가드를 "
        "둡니다.",
    ),
    "outside-local": FindingText(
        "{buffer}의 범위를 {distance} 벗어난 {bytes} {access}{element}",
        "스레드의 배열은 그 앞에서 끝납니다. 같은 스레드의 다른 변수를 건드리거나 커널이 중단됩니다.",
        "반복 범위를 스레드 배열의 길이와 비교해 확인합니다.",
    ),
    "outside-cluster": FindingText(
        "블록이 {expected}개인 클러스터에서 {arrived}번 블록의 공유 메모리에 대한 {bytes} {access}",
        "클러스터의 블록은 0번부터 번호를 매기므로 그런 블록은 없습니다. 실제 하드웨어에서는 커널이 "
        "중단됩니다.",
        "`(rank + 1) % size`처럼 마지막 블록이 첫 블록으로 돌아가게 하거나 가드를 두고, 실행할 때의 "
        "`cluster_dim`이 의도한 값인지 확인합니다.",
    ),
    "misaligned": FindingText(
        "{alignment}의 배수가 아닌 주소 {address}에서 {bytes} {access}",
        "GPU는 {alignment}의 배수인 주소에서만 {bytes}를 한 번에 읽고 쓸 수 있습니다. 다른 주소에서는 "
        "커널이 중단됩니다.",
        "벡터 너비의 배수인 인덱스에서 시작하거나, 원소를 하나씩 읽고 씁니다.",
    ),
    "null-pointer": FindingText(
        "널 포인터(주소 {address})를 통한 {bytes} {access}",
        "주소 0에서 시작하는 버퍼는 없습니다. 포인터를 설정하지 않았거나, 버퍼 없이 인덱스만 사용했습니다.",
        "버퍼를 커널에 전달했는지, 버퍼가 비어 있지 않은지 확인합니다.",
    ),
    "wild-pointer": FindingText(
        "어느 버퍼와도 멀리 떨어진 주소 {address}에서 {bytes} {access}. 가장 가까운 것은 {buffer}",
        "이 주소는 어떤 할당에도 속하지 않습니다. 실제 하드웨어에서는 잘못된 주소 오류로 커널이 중단됩니다.",
        "인덱스 계산을 확인합니다(오버플로, 뒤바뀐 행과 열, 초기화하지 않은 인덱스).",
    ),
    "use-after-free": FindingText(
        "이미 해제된 {buffer}에 대한 {bytes} {access}",
        "그 메모리는 벌써 다른 버퍼의 것일 수 있으므로, 그 데이터를 읽거나 망가뜨립니다.",
        "커널이 끝날 때까지 버퍼를 살려 둡니다. `ctx.synchronize()` 뒤에 버퍼를 한 번 더 사용하거나 나중에 "
        "넘겨주면 됩니다.",
    ),
    "not-mapped": FindingText(
        "예약만 되었을 뿐 GPU가 쓸 수 있는 메모리가 없는 주소 {address}(예약 범위의 {offset}바이트째)에 대한 "
        "{bytes} {access}",
        "예약된 주소는 숫자일 뿐입니다. 그곳에 메모리를 매핑하고 접근을 허용해야 하며, 하드웨어에서는 커널이 "
        "잘못된 주소로 멈춥니다.",
        "커널이 쓰는 범위 전체에 대해 실행 전에 `cuMemMap`과 `cuMemSetAccess`를 호출하고, `cuMemUnmap`은 "
        "커널이 끝난 뒤에만 호출합니다.",
    ),
    "read-only": FindingText(
        "읽기 전용으로 매핑된 {buffer}에 대한 {bytes} {access}{element}",
        "이 주소로는 메모리를 읽을 수만 있고 바꿀 수는 없습니다. 하드웨어에서는 커널이 잘못된 주소로 "
        "멈춥니다.",
        "접근 권한이 `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`인 주소로 쓰거나, `cuMemSetAccess`로 "
        "이 주소에 쓰기를 허용합니다.",
    ),
    "host-memory": FindingText(
        "호스트에 속한 {buffer}에 대한 {bytes} {access}",
        "GPU는 호스트 메모리에 버스를 거쳐야만 닿을 수 있고, 고정(pinned)되지 않은 메모리에는 아예 닿지 "
        "못합니다.",
        "먼저 `enqueue_copy`로 DeviceBuffer에 복사한 다음, 그 버퍼를 커널에 전달합니다.",
    ),
    "host-memory-not-passed": FindingText(
        "커널에 전달하지 않은 호스트 메모리, 호스트에 속한 {buffer}에 대한 {bytes} {access}",
        "커널의 어떤 인자도 그곳을 가리키지 않습니다. 실제 하드웨어에서는 호스트의 데이터를 읽거나 덮어쓰고, "
        "커널이 중단되기도 합니다.",
        "인덱스 계산을 확인하고(오버플로, 뒤바뀐 행과 열, 초기화하지 않은 인덱스), 커널에는 DeviceBuffer를 "
        "전달합니다.",
    ),
    "leak": FindingText(
        "해제되지 않은 {buffer}",
        "이 메모리는 프로그램이 끝날 때에야 되돌아옵니다. 이 일을 되풀이하는 프로그램은 디바이스 메모리가 "
        "바닥납니다.",
        "버퍼의 사용을 모두 `with DeviceContext() as ctx:` 안에 두어 컨텍스트가 버퍼보다 오래 살게 합니다. "
        "Mojo는 값을 마지막으로 쓴 뒤에 바로 없애는데, 컨텍스트가 먼저 없어진 버퍼는 해제하지 않습니다. "
        "직접 할당하거나 `take_ptr`로 꺼낸 메모리는 직접 해제합니다.",
    ),
    "read-after-write": FindingText(
        "{memory} 메모리의 경쟁 상태: 다른 스레드가 방금 쓴 값을 순서 보장 없이 읽습니다",
        "{last_place}의 쓰기가 {first_place}의 읽기보다 먼저 일어난다는 보장이 없습니다. 실제 "
        "하드웨어에서는 이전 값을 읽을 수 "
        "있습니다.",
        "{scope_hint}",
    ),
    "write-after-read": FindingText(
        "{memory} 메모리의 경쟁 상태: 다른 스레드가 읽고 있는 값을 순서 보장 없이 덮어씁니다",
        "{last_place}의 읽기가 {first_place}의 쓰기보다 먼저 일어난다는 보장이 없습니다. 실제 "
        "하드웨어에서는 이미 바뀐 값을 읽을 "
        "수 있습니다.",
        "{scope_hint} 반복문이라면 한 단계의 읽기를 같은 단계의 쓰기와도, 다음 단계의 쓰기와도 나누어 "
        "줍니다.",
    ),
    "write-after-write": FindingText(
        "{memory} 메모리의 경쟁 상태: 두 스레드가 같은 자리에 서로 다른 값을 순서 보장 없이 씁니다",
        "두 값 가운데 어느 쪽이 남을지는 우연에 달려 있습니다. 이렇게 모은 합계에서는 일부 값이 사라집니다.",
        "스레드마다 자기 원소에만 쓰게 하거나 `Atomic.fetch_add`로 더합니다. 또는: {scope_hint}",
    ),
    "same-instruction": FindingText(
        "{memory} 메모리의 경쟁 상태: 여러 스레드가 같은 명령에서 같은 자리에 서로 다른 값을 씁니다",
        "어느 값이 남을지는 우연에 달려 있습니다. 이렇게 모은 합계에서는 일부 값이 사라집니다.",
        "한 스레드만 쓰게 하거나(`if thread_idx.x == 0:`), 스레드마다 자기 원소를 주거나, "
        "`Atomic.fetch_add`로 더합니다.",
    ),
    "copy-in-flight": FindingText(
        "비동기 복사가 아직 채우고 있는 {memory} 메모리에 대한 {access}",
        "{last_place}에서 시작한 복사는 백그라운드에서 진행됩니다. 기다리기 전에는 무엇이 도착했는지 복사를 "
        "시작한 스레드조차 "
        "알 수 없습니다.",
        "복사와 접근 사이에서 `async_copy_wait_all()`을 호출한 다음 `barrier()`를 호출합니다.",
    ),
    "bulk-copy-in-flight": FindingText(
        "벌크 복사가 아직 채우고 있는 {memory} 메모리에 대한 {access}",
        "{last_place}에서 시작한 복사는 백그라운드에서 진행됩니다. 끝나기를 기다리기 전에는 무엇이 "
        "도착했는지 아무도 모릅니다. 배리어만으로는 복사를 기다리지 않습니다.",
        "공유 메모리로 복사할 때는 그 복사의 mbarrier에서 기다립니다(`bar[].wait(phase)` 또는 "
        "`mbarrier_try_wait_parity_shared`). 전역 메모리로 복사할 때는 복사를 시작한 스레드가 "
        "`cp_async_bulk_commit_group()`과 `cp_async_bulk_wait_group[0, False]()`를 호출합니다. 그다음 다른 "
        "스레드가 나아가기 전에 `barrier()`를 호출합니다.",
    ),
    "copy-source-changed": FindingText(
        "벌크 복사가 아직 읽고 있는 {memory} 메모리에 대한 {access}",
        "{last_place}에서 시작한 복사는 백그라운드에서 진행되며, 이전 값이든 새 값이든 그때 있는 값을 "
        "가져갑니다. 배리어만으로는 복사를 기다리지 않습니다.",
        "공유 메모리에서 복사할 때는 복사를 시작한 스레드가 `cp_async_bulk_commit_group()`과 "
        "`cp_async_bulk_wait_group[0]()`를 호출합니다. 전역 메모리에서 복사할 때는 그 복사의 mbarrier에서 "
        "기다립니다. 그다음 다른 스레드가 원본을 덮어쓰기 전에 `barrier()`를 호출합니다.",
    ),
    "copy-outlives-block": FindingText(
        "벌크 복사가 블록의 공유 메모리 {bytes}를 아직 쓰고 있는데 블록이 끝납니다",
        "공유 메모리는 블록과 함께 사라집니다. 이 멀티프로세서의 다음 블록이 그 메모리를 받는데, 그 블록이 "
        "복사와 부딪히지 않는다는 보장이 없습니다.",
        "블록이 끝나기 전에 기다립니다. 공유 메모리로 들어오는 복사는 그 mbarrier에서, 나가는 복사는 그것을 "
        "시작한 스레드에서 `cp_async_bulk_commit_group()`과 `cp_async_bulk_wait_group[0]()`로 기다립니다.",
    ),
    "proxy-fence-missing": FindingText(
        "프록시 펜스 없이 쓴 {memory} 메모리를 벌크 복사가 읽습니다",
        "일반 저장과 벌크 복사는 서로 다른 길로 메모리에 닿습니다. 펜스가 없으면 배리어가 있어도 "
        "{last_place}에서 저장한 값을 복사가 놓칠 수 있습니다.",
        "저장한 모든 스레드가 저장 다음에 `fence_async_view_proxy()`를 호출하고, `barrier()`를 지난 뒤에 "
        "복사를 시작합니다.",
    ),
    "barrier-reused": FindingText(
        "다른 스레드들이 아직 만나고 있을 수 있는 {arrived}번 배리어에 스레드가 옵니다",
        "배리어는 누가 오든 셉니다. {last_place}의 스레드들이 지나가기 전에 온 스레드도 함께 세므로, 일부는 "
        "너무 일찍 나아가고 다른 스레드는 끝없이 기다립니다.",
        "스레드 무리마다 1부터 15까지의 배리어 번호를 따로 주거나(`barrier()`는 0번을 씁니다), 블록 전체의 "
        "`barrier()` 뒤처럼 앞 무리가 지나간 다음에만 뒤 무리가 오게 합니다.",
    ),
    "unwritten-read": FindingText(
        "아무도 쓰지 않은 {memory} 메모리에서 {bytes} 읽기: {buffer}, 오프셋 {offset}{element}",
        "새 메모리에는 이전에 있던 값이 그대로 남아 있어서, 실행할 때마다 값이 달라집니다.",
        "모든 원소를 읽기 전에 씁니다. 호스트에서 버퍼를 채우거나, 맡은 데이터가 없는 스레드가 0을 저장하게 "
        "하고, "
        "쓰는 쪽과 읽는 쪽의 인덱스가 같은지 확인합니다.",
    ),
    "unwritten-library-read": FindingText(
        "Mojo 라이브러리가 아무도 쓰지 않은 {memory} 메모리에서 {bytes}를 읽습니다: "
        "{buffer}, 오프셋 {offset}{element}",
        "라이브러리는 임시 메모리의 모든 칸을 읽고 자신이 쓴 칸만 사용할 수 있습니다. 결과가 맞다면 "
        "문제가 없습니다.",
        "결과가 틀리다면 라이브러리 함수가 블록에 요구하는 조건, 즉 블록 크기와 모든 스레드의 호출 여부를 "
        "확인합니다.",
    ),
    "unwritten-copy": FindingText(
        "{buffer}에서 아무도 쓰지 않은 {bytes}를 호스트로 복사했습니다. 첫 자리는 오프셋 {offset}{element}",
        "호스트는 그 메모리에 이전에 있던 값을 받습니다.",
        "커널이 모든 원소를 쓰게 하거나, 먼저 `enqueue_fill`로 버퍼를 채웁니다.",
    ),
    "exited-before-barrier": FindingText(
        "블록의 스레드 {expected}개 가운데 {arrived}개만 배리어에 도착했고, 나머지는 이미 반환했습니다",
        "배리어는 블록 전체가 만나는 자리입니다. 어떤 GPU에서는 블록이 끝없이 기다리고, 어떤 GPU에서는 그 "
        "스레드 없이 진행합니다.",
        "모든 스레드가 `barrier()`에 도달하게 합니다. 그 앞에서 반환하지 말고, `barrier()`를 `if` 안이나 "
        "스레드마다 길이가 다른 반복문 안에 두지 말고, 가드(`if i < size:`)로는 작업만 감쌉니다.",
    ),
    "divergent-barrier": FindingText(
        "한 블록의 스레드들이 서로 다른 배리어에서 기다립니다: {expected}개 가운데 {arrived}개가 "
        "{first_place}에 있습니다",
        "`barrier()`는 블록의 모든 스레드가 같은 호출에 도달해야 합니다. 분기 안에 있으면 일부 스레드는 "
        "영영 오지 않습니다.",
        "`barrier()`를 `if` 밖으로(또는 스레드마다 길이가 다른 반복문 밖으로) 옮깁니다.",
    ),
    "missing-lane": FindingText(
        "워프 연산이 레인 {mask}을(를) 기다리지만, 레인 {lanes}은(는) 참여하지 않습니다",
        "마스크에 적힌 레인들은 서로를 기다립니다. 참여하지 않은 레인에서 가져온 값은 정의되지 않습니다.",
        "모든 레인이 워프 연산을 호출하게 하거나(분기 밖으로 옮기고, 할 일이 없는 레인에는 0 같은 중립값을 "
        "줍니다), 실제로 "
        "도착하는 레인의 마스크를 전달합니다.",
    ),
    "absent-source": FindingText(
        "워프 셔플이 {arrived}번 레인에서 값을 가져오지만, 참여하는 레인은 {mask}뿐입니다",
        "참여하지 않는 레인에서 가져온 값은 정의되지 않습니다. 이미 끝났거나, 블록의 스레드가 워프보다 적어 "
        "처음부터 없거나, 다른 분기에 있거나, 마스크에 적히지 않은 레인입니다.",
        "참여하는 레인에서 값을 가져오거나, 그 레인도 연산을 호출하게 하고 마스크에 적습니다. 워프보다 "
        "스레드가 적은 블록이라면 단계를 스레드 수의 절반에서 시작합니다.",
    ),
    "short-barrier": FindingText(
        "스레드 {expected}개가 만나는 배리어에서 {arrived}개가 기다리지만, 더 올 수 있는 스레드가 없습니다",
        "수를 정한 배리어는 워프 단위로 그만큼의 스레드가 와야 지나갈 수 있습니다.",
        "실제로 그곳에서 만나는 스레드 수를 32의 배수로 적고, 그 스레드가 모두 오게 합니다. "
        "`named_barrier[count](number)`를 쓰고, 기다릴 필요가 없는 스레드는 `named_barrier_arrive`를 "
        "씁니다.",
    ),
    "endless-wait": FindingText(
        "교착 상태: 이제 어떤 스레드도 바꿀 수 없는 값을 스레드들이 반복문에서 기다립니다",
        "그 값을 바꿀 수 있는 스레드가 모두 함께 기다리고 있거나 이미 끝났습니다.",
        "반복문이 읽는 값을 어느 스레드인가가 쓰게 하되, 그 스레드가 다른 스레드를 기다리기 전에 쓰게 "
        "합니다. 잠금은 워프의 다른 레인을 기다리게 되는 반복문 뒤가 아니라, 잠금을 얻은 `if` 안에서 "
        "풀어야 합니다.",
    ),
    "deadlock": FindingText(
        "교착 상태: 더 진행할 수 있는 스레드가 없습니다",
        "각 스레드 무리가 결코 오지 않을 다른 무리를 기다립니다.",
        "모든 스레드가 같은 배리어를 같은 순서로, 같은 번호와 스레드 수로 지나게 합니다.",
    ),
    "mbarrier-stuck": FindingText(
        "단계가 끝나지 않는 mbarrier에서 스레드들이 기다립니다: 도착 {expected}번 가운데 {arrived}번",
        "`mbarrier_init`이 예고한 횟수만큼 도착해야 단계가 끝납니다.",
        "실제로 `mbarrier_arrive`를 호출하는 스레드 수를 예고하고, 단계마다 그 스레드들이 모두 도착하게 "
        "합니다. 패리티로 기다릴 때는 기다리는 단계의 패리티를 적습니다. 첫 단계는 0, 그다음은 1, 0, … "
        "순서입니다.",
    ),
    "mbarrier-not-ready": FindingText(
        "이 스레드에게 `mbarrier_init`이 보이기 전에 mbarrier를 사용했습니다",
        "그러면 mbarrier의 횟수와 단계는 공유 메모리에 이전에 있던 값입니다.",
        "한 스레드가 초기화한 다음, 누구든 도착하거나 기다리기 전에 `barrier()`를 호출합니다.",
    ),
    "mbarrier-unheeded": FindingText(
        "mbarrier에 단계가 끝났는지 묻고는 아무도 그 답을 보지 않습니다",
        "`mbarrier_test_wait`는 기다리지 않고 바로 답합니다. 여기서는 답이 무엇이든, 다른 스레드가 도착하기 "
        "전이라도 스레드가 그대로 나아갑니다.",
        "참이라는 답이 나올 때까지 묻습니다: `while not mbarrier_test_wait(barrier, token): pass`.",
    ),
    "cluster-wait-missing": FindingText(
        "스레드 {arrived}개가 클러스터 배리어에 도착한 뒤 `cluster_wait()` 없이 끝났습니다",
        "클러스터의 다른 블록이 아직 이 블록이나 이 블록의 공유 메모리에 기대고 있는데 블록이 사라질 수 "
        "있습니다.",
        "모든 `cluster_arrive()`를 같은 스레드의 `cluster_wait()`로 마무리합니다.",
    ),
    "cluster-arrive-missing": FindingText(
        "앞선 `cluster_arrive()` 없이 `cluster_wait()`를 호출했습니다",
        "이 스레드가 예고하지 않은 만남을 기다리는 것이므로 동작이 정의되지 않습니다.",
        "클러스터의 모든 스레드에서 `cluster_arrive()`와 `cluster_wait()`를 차례로 한 번씩 호출합니다.",
    ),
    "cluster-block-gone": FindingText(
        "이미 끝났을 수 있는 클러스터 안 다른 블록의 공유 메모리에 대한 {access}",
        "공유 메모리는 그 블록과 함께 사라집니다. 거기서 읽은 값은 정의되지 않습니다.",
        "마지막 원격 접근 뒤에 `cluster_sync()`를 호출해서, 어떤 블록도 먼저 끝나지 않게 합니다.",
    ),
}

_RACE_HINTS = {
    "line": "읽기와 쓰기가 한 줄에 있습니다. 여러 스레드가 한 자리에 더하는 것이라면 `Atomic.fetch_add`나 "
    "리덕션을 씁니다. 아니라면 줄을 나눕니다. 먼저 변수에 읽어 두고, 모든 스레드가 지나는 자리에서 "
    "`barrier()`를 호출한 다음 쓰면 됩니다.",
    "step": "한 줄에서, 대개는 반복문의 서로 다른 단계에서 일어납니다. 단계가 끝날 때마다 모든 스레드가 "
    "지나는 자리에서(`if` 안이 아니라) `barrier()`를 호출합니다. 여러 스레드가 한 자리에 더하는 것이라면 "
    "`Atomic.fetch_add`나 리덕션을 씁니다.",
    "warp": "두 줄 사이의, 모든 스레드가 지나는 자리에 `barrier()`를 둡니다(두 스레드가 한 워프에 있으므로 "
    "`syncwarp()`도 "
    "됩니다).",
    "cluster": "두 줄 사이의, 클러스터의 모든 스레드가 지나는 자리에 `cluster_sync()`를 둡니다. "
    "`barrier()`는 한 블록의 스레드 사이에서만 순서를 정합니다. `cluster_arrive()`와 `cluster_wait()`로 "
    "나누어 쓴다면 먼저 할 접근은 `cluster_arrive()`보다 앞에, 나중에 할 접근은 `cluster_wait()`보다 뒤에 "
    "둡니다. 여러 스레드가 한 자리에 더하는 것이라면 `Atomic.fetch_add`를 씁니다.",
    "block": "두 줄 사이의, 블록의 모든 스레드가 지나는 자리에 `barrier()`를 둡니다.",
    "grid": "블록 사이의 순서를 정하는 배리어는 없습니다. 원자적 연산이나 두 번째 커널 실행을 쓰거나, "
    "블록마다 자기 원소만 다루게 합니다. 원자적 플래그나 카운터로 데이터를 넘겨줄 때는 쓰는 쪽에 "
    "`Ordering.RELEASE`, 읽는 쪽에 `Ordering.ACQUIRE`가 필요합니다.",
}


def _bytes_of(count: int) -> str:
    return f"{count}바이트"


LANGUAGE = FindingLanguage(
    texts=_TEXTS,
    severity={"error": "오류:", "warning": "경고:"},
    actions={
        "read": "읽습니다",
        "write": "씁니다",
        "atomic": "원자적으로 갱신합니다",
        "async-copy": "비동기로 복사합니다",
        "barrier": "배리어에서 기다립니다",
        "cluster-barrier": "클러스터 배리어에 있습니다",
        "warp-sync": "워프 연산에 있습니다",
        "mbarrier": "mbarrier를 사용합니다",
        "loop": "다른 스레드를 기다리며 반복합니다",
        "exit": "반환합니다",
    },
    accesses={
        "read": "읽기",
        "write": "쓰기",
        "atomic": "원자적 갱신",
        "async-copy": "비동기 복사",
        "barrier": "배리어",
        "cluster-barrier": "클러스터 배리어",
        "warp-sync": "워프 연산",
        "mbarrier": "mbarrier 연산",
        "loop": "대기 반복",
        "exit": "반환",
    },
    memories={"global": "전역", "shared": "공유", "local": "로컬"},
    windows={"shared": "블록의 공유 메모리({size})", "local": "스레드의 로컬 메모리({size})"},
    shared_array="블록의 {number}번째 공유 배열({size})",
    race_hints=_RACE_HINTS,
    where="위치:",
    where_width=5,
    why="이유:",
    hint="시도:",
    party="{place}: 블록 {block}의 스레드 {thread}: {action}",
    party_many="{place}: 블록 {block}의 스레드 {thread} 외 {others}개: {action}",
    after="{kernel} 실행 뒤",
    times="{kernel}에서 모두 {count}번 발견",
    buffer="{number}번째 버퍼({size})",
    buffer_argument="{number}번째 버퍼({size}, {kernel}의 {argument}번째 인자)",
    variable="변수 `{label}`({size})",
    byte_adjective="{size}바이트",
    element=" ({width}바이트 원소로는 {index}번, 마지막 원소는 {last}번)",
    bytes_of=_bytes_of,
)
