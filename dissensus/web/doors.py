"""Who sent a request: people are identified by a personal token in a cookie; only its hash is known here."""

# no `from __future__ import annotations`: the framework reads the annotations of a callable object unresolved

import hmac
import secrets
from collections.abc import Callable, Mapping

from fastapi import HTTPException, Request, Response
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase

from dissensus.records import Annotator, token_hash

YEAR = 365 * 24 * 3600


class Door(SecurityBase):
    """Lets only people with the right cookie through; 401 for everybody else."""

    def __init__(self, doors: "Doors", cookie: str, is_owner: bool) -> None:
        """Let in the owner, or annotators."""
        self.doors, self.cookie, self.is_owner = doors, cookie, is_owner
        self.model = APIKey(**{"in": APIKeyIn.cookie}, name=cookie)
        self.scheme_name = "owner" if is_owner else "annotator"

    async def __call__(self, request: Request) -> None:
        """Remember who sent the request, for `person_at`."""
        person = self.holder_of(request.cookies)
        if person is None:
            raise HTTPException(401, "open the owner link" if self.is_owner else "open your personal link")
        request.state.person = person

    def holder_of(self, cookies: Mapping[str, str]) -> Annotator | None:
        """The person these cookies let in, or None."""
        token = cookies.get(self.cookie)
        person = None if token is None else self.doors.person_with(token)
        return person if person is not None and person.is_owner == self.is_owner else None


class Doors:
    """The two doors, one for annotators and one for owners, and who has which token."""

    def __init__(self, key: str, people: Callable[[], Mapping[str, Annotator]]) -> None:
        """Create the owner link of this run; `dissensus annotators add --owner` creates permanent ones.

        `key` identifies the study, and `people` gives everybody who has a link by the hash of their token.
        """
        self.people = people
        self.owner_token = secrets.token_urlsafe(24)
        hashed = token_hash(self.owner_token)
        self.this_owner = Annotator(name="owner", token_hash=hashed, is_owner=True, is_trusted=False, seed=0, time="")
        # cookies do not distinguish ports, and two studies on one host must not overwrite each other's
        cookie = f"dissensus-{key}"
        self.annotator = Door(self, cookie, is_owner=False)
        self.owner = Door(self, f"{cookie}-owner", is_owner=True)

    def person_with(self, token: str) -> Annotator | None:
        """The person with this token, or None.

        The hash, which an attacker cannot control digit by digit, is looked up in a dictionary; the comparison itself
        takes constant time.
        """
        hashed = token_hash(token)
        person = self.people().get(hashed, self.this_owner)
        return person if hmac.compare_digest(person.token_hash, hashed) else None

    def let_in(self, person: Annotator, token: str, request: Request, response: Response) -> None:
        """Give the browser its cookie, which scripts and other sites cannot read."""
        response.set_cookie(
            (self.owner if person.is_owner else self.annotator).cookie,
            token,
            max_age=YEAR,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )

    def let_out(self, response: Response) -> None:
        """Delete the cookies."""
        for door in (self.annotator, self.owner):
            response.delete_cookie(door.cookie, httponly=True, samesite="strict")


def person_at(request: Request) -> Annotator:
    """The person whom the request's door let in."""
    person: Annotator = request.state.person
    return person
