#pragma once
#include <postgresql/libpq-fe.h>

/// `PG_DIAG_*` are character macros, which Swift does not import.
static inline int CPostgres_diagSQLState(void) { return PG_DIAG_SQLSTATE; }
static inline int CPostgres_diagConstraintName(void) { return PG_DIAG_CONSTRAINT_NAME; }
