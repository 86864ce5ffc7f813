"""The few sentences that the book itself says, in the languages of its editions."""

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
    "switch": Text("Read this page in English", "이 페이지를 한국어로 읽기"),
    "ways-to-run": Text("Ways to run it", "실행 방법"),
    "tensor-api": Text("Tensor API", "텐서 API"),
    "no-gpu": Text("no GPU", "GPU 없음"),
    "solution": Text("Solution", "풀이"),
    "tips": Text("Tips", "팁"),
    "minutes": Text("{minutes} min read", "읽는 데 약 {minutes}분"),
    "puzzle": Text("Puzzle {number}", "퍼즐 {number}"),
    "part": Text("part {part}", "{part}부"),
    "runs-on": Text("Runs on", "실행 환경"),
    "simulated": Text("simulated GPU", "시뮬레이션 GPU"),
    "compute": Text("compute {compute} or later", "compute {compute} 이상"),
    "unsupported": Text("not supported", "지원 안 함"),
    "because": Text("{vendor}: {reason}", "{vendor}: {reason}"),
    "yes": Text("yes", "가능"),
    "mode": Text("Run", "실행"),
    "untranslated": Text(
        "This page has not been translated into English yet. It is shown in Korean.",
        "아직 번역하지 않은 페이지입니다. 영어 원문을 그대로 보여 드립니다.",
    ),
}


def say(key: str, language: str, **values: object) -> str:
    """A sentence of the book in the language of an edition."""
    text = PHRASES[key]
    return (text.ko if language == "ko" else text.en).format(**values)


def pick(text: Text, language: str) -> str:
    """One of the two sentences of a text."""
    return text.ko if language == "ko" else text.en
