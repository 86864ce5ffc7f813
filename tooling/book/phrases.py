"""The few sentences that the book itself says, in English and Korean; other languages see them in English."""

from __future__ import annotations

from tooling.catalog.model import Text

PHRASES = {
    "skip": Text("Skip to the page", "본문으로 건너뛰기"),
    "contents": Text("Contents", "목차"),
    "outline": Text("On this page", "이 페이지에서"),
    "search": Text("Search", "검색"),
    "theme": Text("Theme", "테마"),
    "theme-auto": Text("as the system", "시스템 설정"),
    "theme-light": Text("light", "밝게"),
    "theme-dark": Text("dark", "어둡게"),
    "repository": Text("Source code", "소스 코드"),
    "steps": Text("Previous and next page", "이전 페이지와 다음 페이지"),
    "previous": Text("Previous", "이전"),
    "next": Text("Next", "다음"),
    "edit": Text("Edit this page", "이 페이지 고치기"),
    "switch": Text("Read this page in {name}", "이 페이지를 한국어로 읽기"),
    "ways-to-run": Text("Ways to run it", "실행 방법"),
    "tensor-api": Text("Tensor API", "텐서 API"),
    "no-gpu": Text("no GPU", "GPU 없음"),
    "solution": Text("Solution", "풀이"),
    "tips": Text("Tips", "팁"),
    "minutes": Text("{minutes} min read", "읽는 데 약 {minutes}분"),
    "puzzle": Text("Puzzle {number}", "퍼즐 {number}"),
    "part": Text("part {roman}", "{number}부"),
    "runs-on": Text("Runs on", "실행 환경"),
    "simulated": Text("simulated GPU", "시뮬레이션 GPU"),
    "compute": Text("compute {compute} or later", "compute {compute} 이상"),
    "unsupported": Text("not supported", "지원 안 함"),
    "yes": Text("yes", "가능"),
    # What a program in Python needs; the names of `Extra` in tooling/catalog/model.py.
    "extra-max": Text(
        "Needs MAX, the extra <code>max</code>.", "MAX가 필요합니다(선택 패키지 <code>max</code>)."
    ),
    "extra-torch": Text(
        "Needs MAX and PyTorch, the extra <code>torch</code>.",
        "MAX와 PyTorch가 필요합니다(선택 패키지 <code>torch</code>).",
    ),
    "mode": Text("Run", "실행"),
    "untranslated": Text(
        "This page has not been translated yet. It is shown in another language of the book.",
        "아직 번역하지 않은 페이지입니다. 영어 원문을 그대로 보여 드립니다.",
    ),
    "solved": Text("solved", "풀었음"),
    "copy": Text("Copy", "복사"),
    "copied": Text("Copied", "복사했습니다"),
    "search-label": Text("Search the book", "책에서 찾기"),
    "search-close": Text("Close", "닫기"),
    "search-hint": Text("Type a word to look for.", "찾을 낱말을 입력합니다."),
    # `#` stands for what was typed, or for a count; the page's script puts it in.
    "search-none": Text("Nothing found for “#”.", "'#'을(를) 찾지 못했습니다."),
    "search-one": Text("# place found.", "#곳을 찾았습니다."),
    "search-many": Text("# places found.", "#곳을 찾았습니다."),
    # On top of a translated page that may be older than its source; {link} leads to the source.
    "banner": Text("State of the translation", "번역 상태"),
    "banner-link": Text("the English page", "영어 원문"),
    "banner-preface": Text("before the first heading", "머리말"),
    "banner-stale": Text(
        "The English page has changed since this one was translated. What is new stands in {link}.",
        "번역한 뒤 영어 원문이 바뀌었습니다. 최신 내용은 {link}에 있습니다.",
    ),
    "banner-sections": Text(
        "{count} sections of the English page have changed since it was translated. "
        "What is new stands in {link}.",
        "번역한 뒤 영어 원문의 {count}개 절이 바뀌었습니다. 최신 내용은 {link}에 있습니다.",
    ),
    "banner-untracked": Text(
        "Nobody can say which version of the source this is a translation of. It may differ from {link}.",
        "이 번역이 어느 판의 원문을 옮긴 것인지 알 수 없습니다. {link}과 다를 수 있습니다.",
    ),
    "banner-unknown": Text(
        "The state of this translation could not be checked. It may differ from {link}.",
        "번역 상태를 확인하지 못했습니다. {link}과 다를 수 있습니다.",
    ),
}


def say(key: str, language: str, **values: object) -> str:
    """A sentence of the book in the language of an edition."""
    return PHRASES[key].in_language(language).format(**values)


def pick(text: Text, language: str) -> str:
    """A text in the language of an edition; in English where nobody has translated it."""
    return text.in_language(language)
