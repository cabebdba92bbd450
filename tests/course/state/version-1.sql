-- A progress file as format 1 wrote it; never changed.
BEGIN TRANSACTION;
CREATE TABLE answers (
        id INTEGER PRIMARY KEY,
        item TEXT NOT NULL,
        at REAL NOT NULL,
        right INTEGER NOT NULL,
        answer TEXT NOT NULL
    );
INSERT INTO "answers" VALUES(1,'first-kernel/who',1772442000.0,1,'2');
CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        exercise TEXT NOT NULL,
        at REAL NOT NULL,
        passed INTEGER,                 -- null: begun, and interrupted before the verdict
        reason TEXT,
        headline TEXT,
        seconds REAL,
        submission TEXT NOT NULL,
        grade TEXT                      -- the whole verdict, as JSON
    );
INSERT INTO "attempts" VALUES(1,'first-kernel/saxpy',1772442000.0,0,'wrong','h',1.0,'56babb1279625d6299b68c422f725647e9b6c34225689430e257ab0f757e5616','{"passed": false}');
INSERT INTO "attempts" VALUES(2,'first-kernel/saxpy',1772442000.0,1,NULL,'h',1.0,'a0e4d52b39430f514af01f5d8b523e81e0d6d9135d4b384fd8c44f666f032219','{"passed": true}');
CREATE TABLE days (day TEXT PRIMARY KEY);
INSERT INTO "days" VALUES('2026-03-02');
CREATE TABLE given_up (exercise TEXT PRIMARY KEY, at REAL NOT NULL);
INSERT INTO "given_up" VALUES('first-kernel/reverse',1772442000.0);
CREATE TABLE hints (
        exercise TEXT NOT NULL,
        number INTEGER NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (exercise, number)
    );
INSERT INTO "hints" VALUES('first-kernel/saxpy',1,1772442000.0);
CREATE TABLE kept_files (           -- what a reset replaced
        id INTEGER PRIMARY KEY,
        exercise TEXT NOT NULL,
        at REAL NOT NULL,
        path TEXT NOT NULL,
        submission TEXT NOT NULL
    );
INSERT INTO "kept_files" VALUES(1,'first-kernel/saxpy',1772442000.0,'saxpy.cu','56a086d775443d43e59b062ff44d619b875c679798590b597b41db220dfbd29b');
CREATE TABLE log (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        problem TEXT NOT NULL,
        solution TEXT NOT NULL,
        learnt TEXT NOT NULL,
        kernel TEXT NOT NULL
    );
INSERT INTO "log" VALUES(1,1772442000.0,'竞争','__syncthreads()','屏障','reduce.cu');
CREATE TABLE passes (
        exercise TEXT PRIMARY KEY,
        first_at REAL NOT NULL,
        last_at REAL NOT NULL,
        attempt INTEGER                 -- the newest that passed; null: passed without a file, as a quiz is
    );
INSERT INTO "passes" VALUES('first-kernel/saxpy',1772442000.0,1772442000.0,2);
CREATE TABLE reviews (
        item TEXT PRIMARY KEY,          -- unit/item
        box INTEGER NOT NULL,
        due TEXT NOT NULL,              -- a day
        ever_right INTEGER NOT NULL
    );
INSERT INTO "reviews" VALUES('first-kernel/who',2,'2026-03-03',1);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "settings" VALUES('track','dl-research');
CREATE TABLE study (
        id INTEGER PRIMARY KEY,
        track TEXT NOT NULL,
        day TEXT NOT NULL,
        began REAL NOT NULL,
        ended REAL NOT NULL
    );
INSERT INTO "study" VALUES(1,'dl-research','2026-03-02',1772442000.0,1772442000.0);
CREATE TABLE submissions (          -- what was tried, each text once
        hash TEXT PRIMARY KEY,
        text BLOB NOT NULL,             -- compressed by zlib
        bytes INTEGER NOT NULL
    );
INSERT INTO "submissions" VALUES('56babb1279625d6299b68c422f725647e9b6c34225689430e257ab0f757e5616',X'789CD3D75778BE66CD931D0DCFD62CE402002E6A0717',13);
INSERT INTO "submissions" VALUES('a0e4d52b39430f514af01f5d8b523e81e0d6d9135d4b384fd8c44f666f032219',X'789CD3D75778BE66CD935D3DCFD62CE402002EB20725',13);
INSERT INTO "submissions" VALUES('56a086d775443d43e59b062ff44d619b875c679798590b597b41db220dfbd29b',X'789CD3D75778367D39170009BF02AD',7);
CREATE TABLE ticks (
        track TEXT NOT NULL,            -- empty: of a unit, so of every track
        item TEXT NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (track, item)
    );
INSERT INTO "ticks" VALUES('dl-research','read-guide',1772442000.0);
CREATE INDEX attempts_of ON attempts (exercise, at);
COMMIT;
PRAGMA application_id = 1718382689;
PRAGMA user_version = 1;
