BEGIN TRANSACTION;
CREATE TABLE commits (
  round integer not null, student text not null, assignment text not null, submission text not null,
  checks text not null, at text not null,
  primary key (round, student, assignment, submission, checks)) without rowid;
CREATE TABLE ends (
  round integer primary key references rounds, outcome text not null, at text not null);
INSERT INTO "ends" VALUES(1,'committed','2026-11-27T12:47:15.324231+00:00');
CREATE TABLE records (
  round integer not null references rounds, student text not null, assignment text not null, submission text not null,
  checks text not null, result blob not null, at text not null,
  primary key (round, student, assignment, submission, checks)) without rowid;
INSERT INTO "records" VALUES(1,'ada','02-masks','ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss','cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',X'785EA58EC10A02310C447FA5CC59C515BCF457160FB50D5ACA36D02C8A94FEFB2607F503764E799964988E421F783723A48083C3F9725C8214B15976CA32E24EE1A6214B16C9F5A13DFB50ACBCD29D594BEAE2DFD83BF481EF8199B33D0B45AEC9703A5D955FD4528EEBCF7F732BD4D4C6931AF90963033C38610F','2026-11-27T12:47:15.298731+00:00');
CREATE TABLE returns (
  round integer not null, student text not null, assignment text not null, at text not null,
  primary key (assignment, student, round)) without rowid;
CREATE TABLE rounds (
  number integer primary key, assignment text not null, regrade integer not null, started text not null);
INSERT INTO "rounds" VALUES(1,'02-masks',0,'2026-11-27T12:47:15.261438+00:00');
CREATE TABLE verifications (
  assignment text not null, at text not null, verdicts integer not null, equal integer not null);
CREATE TRIGGER rounds_update before update on rounds
begin select raise(abort, 'rounds is append-only'); end;
CREATE TRIGGER rounds_delete before delete on rounds
begin select raise(abort, 'rounds is append-only'); end;
CREATE TRIGGER ends_update before update on ends
begin select raise(abort, 'ends is append-only'); end;
CREATE TRIGGER ends_delete before delete on ends
begin select raise(abort, 'ends is append-only'); end;
CREATE TRIGGER records_update before update on records
begin select raise(abort, 'records is append-only'); end;
CREATE TRIGGER records_delete before delete on records
begin select raise(abort, 'records is append-only'); end;
CREATE TRIGGER commits_update before update on commits
begin select raise(abort, 'commits is append-only'); end;
CREATE TRIGGER commits_delete before delete on commits
begin select raise(abort, 'commits is append-only'); end;
CREATE TRIGGER returns_update before update on returns
begin select raise(abort, 'returns is append-only'); end;
CREATE TRIGGER returns_delete before delete on returns
begin select raise(abort, 'returns is append-only'); end;
CREATE TRIGGER verifications_update before update on verifications
begin select raise(abort, 'verifications is append-only'); end;
CREATE TRIGGER verifications_delete before delete on verifications
begin select raise(abort, 'verifications is append-only'); end;
PRAGMA user_version = 1;
COMMIT;
