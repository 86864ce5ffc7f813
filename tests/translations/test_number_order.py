"""Numbers that have changed places, and orders that the grammar explains."""

from __future__ import annotations

import pytest

from tooling.translations.parity.number_order import exchanged
from tooling.translations.parity.number_particles import wrong_particles
from tooling.translations.parity.numbers import exchanged_words
from tooling.translations.writing_systems import writing_of

EXCHANGED = {
    "a list": ("It moves 8, 16 and 32 bytes.", "8, 32, 16바이트를 옮깁니다."),
    "a range": ("Elements 3 to 7 are pale.", "원소 7~3은 흐립니다."),
    "two clauses": ("Stage 1 has 4 reads, stage 3 has 9.", "1단계는 읽기가 9회, 3단계는 4회입니다."),
    "instead of": ("It takes 41 loads instead of 55.", "읽기는 41회 대신 55회입니다."),
    "of a whole": ("Only 6 of 9 remain.", "6개 중 9개만 남습니다."),
    "nouns after": ("It has 30 blocks with 256 threads.", "스레드 30개인 블록이 256개 있습니다."),
    "nouns before": ("In puzzle 7 lane 3 waits.", "퍼즐 3에서 레인 7이 기다립니다."),
    "a sequence": ("The block is (0, 1), then (1, 0) or 2.", "블록은 (0, 2), 그다음은 (1, 0)이나 1입니다."),
    "a product": ("It needs 16 × 8 × 8 of 16.", "16의 8 × 16 × 8개입니다."),
    "the end of a list": ("For i, i + 32, i + 64 and 7.", "i, i + 64, i + 32, 7입니다."),
    "a range with particles": ("The rows of 0 to 3 are 3.", "3개인 행은 3부터 0까지입니다."),
    "a range of repeated numbers": ("Of 0 to 7, 0 and 7 stay.", "0과 7은 7에서 0까지에 남습니다."),
    "a letter": ("Thread t takes 4t of 16 bytes, 4 of 16.", "스레드 t는 4개, 16 중 4, 16t를 맡습니다."),
    "a sign that only one has": ("About 14% of 64 wait for 64.", "64 중 14개가 64%를 기다립니다."),
    "signs": ("At 16 ns and 2 GHz it is fast.", "2 ns와 16 GHz이면 빠릅니다."),
}
IN_ORDER = {
    "a list": ("It moves 8, 16 and 32 bytes.", "8, 16, 32바이트를 옮깁니다."),
    "a range": ("Elements 3 to 7 are pale.", "원소 3부터 7까지는 흐립니다."),
    "of a whole": ("Only 6 of 9 remain.", "9개 중 6개만 남습니다."),
    "instead of": ("It takes 41 loads instead of 55.", "읽기는 55회가 아니라 41회입니다."),
    "from more to less": ("It takes 41 loads instead of 55.", "읽기는 55회에서 41회로 줄어듭니다."),
    "nouns": ("It has 30 blocks with 256 threads.", "스레드 256개인 블록이 30개 있습니다."),
    "a relative clause": ("Block 7 reads what block 2 stores.", "블록 2가 저장한 값을 블록 7이 읽습니다."),
    "sentences in another order": ("There are 2. So 7 wait.", "7개가 기다립니다. 2개뿐입니다."),
    "a range downwards": ("Elements 7 down to 0, 0 and 7.", "0과 7, 원소 7에서 0까지입니다."),
    "a list and a noun": ("Offsets 0 and 2 in row 0, 1 and 3 in row 1.", "0행은 0과 2, 1행은 1과 3입니다."),
    "a sign given once": ("It takes 5.8 instead of 3.8 µs.", "3.8 µs가 아니라 5.8 µs입니다."),
    "one number": ("There are 4 threads.", "스레드가 4개 있습니다."),
    "other digits": ("There are 4 and 5.", "4개와 6개입니다."),
}


@pytest.mark.parametrize("name", EXCHANGED)
def test_exchanged_numbers_are_found(name: str) -> None:
    assert exchanged(*EXCHANGED[name], writing_of("ko")) is not None


@pytest.mark.parametrize("name", IN_ORDER)
def test_an_order_that_the_grammar_explains_is_accepted(name: str) -> None:
    assert exchanged(*IN_ORDER[name], writing_of("ko")) is None


PARTICLES = {"스레드 4을": "4를", "원소 3가": "3이", "7으로": "7로", "10와": "10과", "2.5은": "2.5는"}


@pytest.mark.parametrize("text", PARTICLES)
def test_a_particle_that_does_not_fit_its_number_is_found(text: str) -> None:
    (found,) = wrong_particles(text, writing_of("ko"))
    assert found.expected == PARTICLES[text]


@pytest.mark.parametrize(
    "text", ["4를 3이 8로 6으로 0은 100과 10,000은", "3이면 4이고 4가지 2이다", "H100은 sm_90은 1/2은 2-3은"]
)
def test_particles_that_fit_are_accepted(text: str) -> None:
    assert list(wrong_particles(text, writing_of("ko"))) == []
    assert list(wrong_particles("4을", writing_of("ja"))) == []


def test_other_languages_are_compared_by_order() -> None:
    assert exchanged("It moves 8, 16 and 32 bytes.", "Mueve 8, 32 y 16 bytes.", writing_of("es")) is not None
    assert exchanged("Only 6 of 9 remain.", "De 9 quedan 6.", writing_of("es")) is None


def test_another_ordinal_is_found() -> None:
    korean = writing_of("ko")
    assert exchanged_words("Call the first barrier.", "두 번째 배리어를 호출합니다.", korean) is not None
    assert exchanged_words("Call the first barrier.", "첫 번째 배리어를 호출합니다.", korean) is None
    assert exchanged_words("Call the first barrier.", "처음 배리어를 두 번 호출합니다.", korean) is None
    assert exchanged_words("The first and the second.", "두 번째는 뒤에 나옵니다.", korean) is None
