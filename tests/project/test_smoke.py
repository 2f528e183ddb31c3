from django.conf import settings


def test_admin_answers(client, db):
    assert client.get("/admin/login/").status_code == 200


def test_data_folder_is_temporary():
    assert "rota-tests-" in str(settings.DATA_DIR)
