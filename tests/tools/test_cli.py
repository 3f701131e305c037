from typer.testing import CliRunner

from tfkit.tools.cli import app

run = CliRunner()


def test_list_and_family():
    listed = run.invoke(app, ["list"])
    assert listed.exit_code == 0
    assert {"rnn_seq2seq", "transformer"} <= {row.split()[0] for row in listed.stdout.splitlines()}
    assert "  transformer" in run.invoke(app, ["family"]).stdout.splitlines()


def test_anatomy():
    shown = run.invoke(app, ["anatomy", "transformer", "--preset", "base", "--head", "seq2seq_lm"])
    assert shown.exit_code == 0
    assert "63,082,496" in shown.stdout.splitlines()[0]
    assert "weight[2048, 512]" in run.invoke(app, ["anatomy", "transformer", "--depth", "4"]).stdout


def test_anatomy_of_nothing():
    shown = run.invoke(app, ["anatomy", "nope"])
    assert shown.exit_code == 2
    assert "no architecture or preset 'nope'" in shown.output
