import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from dashboard.live.visitors import Visitor, still_welcome

pytestmark = pytest.mark.django_db


@pytest.fixture
def here(visitor, ann):
    return Visitor(visitor.session.session_key, ann.pk)


def test_visitor_with_a_session_is_welcome(here):
    assert still_welcome({here}) == {here}


def test_visitor_who_signed_out_is_not(here, visitor):
    visitor.post("/logout/")
    assert still_welcome({here}) == set()


def test_visitor_who_was_shut_out_is_not(here, ann):
    ann.is_active = False
    ann.save()
    assert still_welcome({here}) == set()


def test_visitor_with_an_old_password_is_not(here, ann):
    ann.set_password("another")
    ann.save()
    assert still_welcome({here}) == set()


def test_session_of_another_user_opens_nothing(here, django_user_model):
    bob = django_user_model.objects.create_user("bob")
    assert still_welcome({Visitor(here.session_key, bob.pk)}) == set()


def test_many_cost_two_queries(here, ann, django_assert_num_queries):
    for _ in range(3):
        Client().force_login(ann)
    visitors = {Visitor(key, ann.pk) for key in Session.objects.values_list("session_key", flat=True)}
    with django_assert_num_queries(2):
        assert still_welcome(visitors) == visitors
