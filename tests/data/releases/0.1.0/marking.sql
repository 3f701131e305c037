BEGIN TRANSACTION;
CREATE TABLE answers (
  request integer primary key references requests (id), accepted integer not null, sentence text not null,
  by text not null, at text not null);
CREATE TABLE changes (
  id integer primary key, assignment text not null, notebook text not null, cell text not null,
  what text not null, item text not null, marks integer not null, by text not null, at text not null);
CREATE TABLE marks (
  id integer primary key, assignment text not null, notebook text not null, cell text not null, student text not null,
  score real, comment text not null, chosen text not null, own text not null, more real not null,
  by text not null, at text not null);
INSERT INTO "marks" VALUES(1,'02-masks','02-masks','task-mask','ada',1.5,'Nearly.','[1]','Nearly.',0.0,'grace','2026-11-27T12:47:15+00:00');
CREATE TABLE requests (
  id integer primary key, assignment text not null, notebook text not null, cell text not null, student text not null,
  reason text not null, sender text not null, file text not null unique, at text not null);
CREATE TABLE shares (
  id integer primary key, assignment text not null, notebook text not null, cell text not null, student text not null,
  marker text not null, by text not null, at text not null);
CREATE INDEX marks_of on marks (assignment, notebook, cell, student);
CREATE INDEX shares_of on shares (assignment, notebook, cell, student);
CREATE TRIGGER marks_update before update on marks
begin select raise(abort, 'marks is append-only'); end;
CREATE TRIGGER marks_delete before delete on marks
begin select raise(abort, 'marks is append-only'); end;
CREATE TRIGGER requests_update before update on requests
begin select raise(abort, 'requests is append-only'); end;
CREATE TRIGGER requests_delete before delete on requests
begin select raise(abort, 'requests is append-only'); end;
CREATE TRIGGER answers_update before update on answers
begin select raise(abort, 'answers is append-only'); end;
CREATE TRIGGER answers_delete before delete on answers
begin select raise(abort, 'answers is append-only'); end;
CREATE TRIGGER shares_update before update on shares
begin select raise(abort, 'shares is append-only'); end;
CREATE TRIGGER shares_delete before delete on shares
begin select raise(abort, 'shares is append-only'); end;
CREATE TRIGGER changes_update before update on changes
begin select raise(abort, 'changes is append-only'); end;
CREATE TRIGGER changes_delete before delete on changes
begin select raise(abort, 'changes is append-only'); end;
PRAGMA user_version = 1;
COMMIT;
