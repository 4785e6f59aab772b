/* WiredTiger's functions are members of its handles, and the layout of the handles differs between
 * versions. This file is compiled once with each wiredtiger.h that the build finds. It wraps each
 * call that the adapter makes in a plain function, and lists these functions in a table, SHIM. The
 * library is opened at run time, so its functions are called only through its handles. */
#include <wiredtiger.h>

#if WIREDTIGER_VERSION_MAJOR < 3
#error "WiredTiger 3 or later is needed"
#endif

/* Code for a missing key. It differs from the library's codes (-31800 to -31999) and from errno
 * (positive). */
#define ABSENT (-1)

_Static_assert(WT_ROLLBACK == -31800, "store/ffi.rs has this code");

static int or_absent(int rc) { return rc == WT_NOTFOUND ? ABSENT : rc; }

struct bytes {
	const void *at;
	size_t size;
};

static void set_key(WT_CURSOR *cursor, struct bytes key)
{
	WT_ITEM item = { .data = key.at, .size = key.size };
	cursor->set_key(cursor, &item);
}

static void set_value(WT_CURSOR *cursor, struct bytes value)
{
	WT_ITEM item = { .data = value.at, .size = value.size };
	cursor->set_value(cursor, &item);
}

static int ember_session(WT_CONNECTION *connection, WT_SESSION **session)
{
	return connection->open_session(connection, NULL, "isolation=snapshot", session);
}

static int ember_session_close(WT_SESSION *session) { return session->close(session, NULL); }
static int ember_close(WT_CONNECTION *connection) { return connection->close(connection, NULL); }

static int ember_create(WT_SESSION *session, const char *uri, const char *config)
{
	return session->create(session, uri, config);
}

static int ember_drop(WT_SESSION *session, const char *uri) { return session->drop(session, uri, NULL); }
static int ember_checkpoint(WT_SESSION *session) { return session->checkpoint(session, NULL); }
static int ember_begin(WT_SESSION *session) { return session->begin_transaction(session, NULL); }
static int ember_commit(WT_SESSION *session) { return session->commit_transaction(session, NULL); }
static int ember_rollback(WT_SESSION *session) { return session->rollback_transaction(session, NULL); }

static int ember_cursor(WT_SESSION *session, const char *uri, const char *config, WT_CURSOR **out)
{
	return session->open_cursor(session, uri, NULL, config, out);
}

static int ember_cursor_close(WT_CURSOR *cursor) { return cursor->close(cursor); }
static int ember_reset(WT_CURSOR *cursor) { return cursor->reset(cursor); }

static int ember_search(WT_CURSOR *cursor, struct bytes key)
{
	set_key(cursor, key);
	return or_absent(cursor->search(cursor));
}

static int ember_search_near(WT_CURSOR *cursor, struct bytes key, int *order)
{
	set_key(cursor, key);
	return or_absent(cursor->search_near(cursor, order));
}

static int ember_next(WT_CURSOR *cursor) { return or_absent(cursor->next(cursor)); }
static int ember_prev(WT_CURSOR *cursor) { return or_absent(cursor->prev(cursor)); }

static int ember_key(WT_CURSOR *cursor, struct bytes *key)
{
	WT_ITEM item;
	int rc = cursor->get_key(cursor, &item);
	if (rc == 0)
		*key = (struct bytes){ item.data, item.size };
	return rc;
}

static int ember_value(WT_CURSOR *cursor, struct bytes *value)
{
	WT_ITEM item;
	int rc = cursor->get_value(cursor, &item);
	if (rc == 0)
		*value = (struct bytes){ item.data, item.size };
	return rc;
}

static int ember_insert(WT_CURSOR *cursor, struct bytes key, struct bytes value)
{
	set_key(cursor, key);
	set_value(cursor, value);
	return cursor->insert(cursor);
}

static int ember_update(WT_CURSOR *cursor, struct bytes value)
{
	set_value(cursor, value);
	return cursor->update(cursor);
}

static int ember_remove(WT_CURSOR *cursor, struct bytes key)
{
	set_key(cursor, key);
	return or_absent(cursor->remove(cursor));
}

/* Removes the keys from one to another, both inclusive, with two cursors of the session. The keys
 * need not exist. */
static int ember_truncate(WT_SESSION *session, WT_CURSOR *start, struct bytes from,
    WT_CURSOR *stop, struct bytes last)
{
	set_key(start, from);
	set_key(stop, last);
	return or_absent(session->truncate(session, NULL, start, stop, NULL));
}

/* Turns on the connection's statistics. */
static int ember_count(WT_CONNECTION *connection)
{
	return connection->reconfigure(connection, "statistics=(fast)");
}

/* Reads two statistics: the number of running checkpoints, and the number of pages that threads of
 * the program had to evict. */
static int ember_counted(WT_SESSION *session, int64_t counted[2])
{
#if defined(WT_STAT_CONN_CHECKPOINT_STATE)
	const int running = WT_STAT_CONN_CHECKPOINT_STATE;
#elif defined(WT_STAT_CONN_TXN_CHECKPOINT_RUNNING)
	const int running = WT_STAT_CONN_TXN_CHECKPOINT_RUNNING;
#else
	const int running = 0;
#endif
#if defined(WT_STAT_CONN_EVICTION_APP_ATTEMPT)
	const int evicted = WT_STAT_CONN_EVICTION_APP_ATTEMPT;
#elif defined(WT_STAT_CONN_CACHE_EVICTION_APP)
	const int evicted = WT_STAT_CONN_CACHE_EVICTION_APP;
#else
	const int evicted = 0;
#endif
	const int keys[2] = { running, evicted };
	WT_CURSOR *cursor;
	int rc = session->open_cursor(session, "statistics:", NULL, NULL, &cursor), closed;
	for (int i = 0; rc == 0 && i < 2; i++) {
		const char *about, *shown;
		counted[i] = 0;
		if (keys[i] == 0)
			continue;
		cursor->set_key(cursor, keys[i]);
		if ((rc = cursor->search(cursor)) == 0)
			rc = cursor->get_value(cursor, &about, &shown, &counted[i]);
	}
	if (rc != 0)
		return rc;
	closed = cursor->close(cursor);
	return closed;
}

/* Passes a session's messages to a callback. */
struct listener {
	WT_EVENT_HANDLER handler;
	void (*callback)(void *context, const char *message);
	void *context;
};

static int report_error(WT_EVENT_HANDLER *handler, WT_SESSION *session, int error, const char *message)
{
	struct listener *listener = (struct listener *)handler;
	(void)session;
	(void)error;
	listener->callback(listener->context, message);
	return 0;
}

/* Verifies a table in a separate session and passes its errors to a callback as they occur. */
static int ember_verify(WT_CONNECTION *connection, const char *uri,
    void (*callback)(void *, const char *), void *context)
{
	struct listener listener = { { .handle_error = report_error }, callback, context };
	WT_SESSION *session;
	int rc = connection->open_session(connection, &listener.handler, NULL, &session), ended;
	if (rc != 0)
		return rc;
	rc = session->verify(session, uri, NULL);
	ended = session->close(session, NULL);
	return rc != 0 ? rc : ended;
}

/* The functions in the order of `Shim` in shim.rs. */
struct shim {
	int major, minor;
	int (*session)(WT_CONNECTION *connection, WT_SESSION **session);
	int (*session_close)(WT_SESSION *session);
	int (*close)(WT_CONNECTION *connection);
	int (*create)(WT_SESSION *session, const char *uri, const char *config);
	int (*drop)(WT_SESSION *session, const char *uri);
	int (*checkpoint)(WT_SESSION *session);
	int (*begin)(WT_SESSION *session);
	int (*commit)(WT_SESSION *session);
	int (*rollback)(WT_SESSION *session);
	int (*verify)(WT_CONNECTION *connection, const char *uri,
	    void (*callback)(void *, const char *), void *context);
	int (*cursor)(WT_SESSION *session, const char *uri, const char *config, WT_CURSOR **out);
	int (*cursor_close)(WT_CURSOR *cursor);
	int (*reset)(WT_CURSOR *cursor);
	int (*search)(WT_CURSOR *cursor, struct bytes key);
	int (*search_near)(WT_CURSOR *cursor, struct bytes key, int *order);
	int (*next)(WT_CURSOR *cursor);
	int (*prev)(WT_CURSOR *cursor);
	int (*key)(WT_CURSOR *cursor, struct bytes *key);
	int (*value)(WT_CURSOR *cursor, struct bytes *value);
	int (*insert)(WT_CURSOR *cursor, struct bytes key, struct bytes value);
	int (*update)(WT_CURSOR *cursor, struct bytes value);
	int (*remove)(WT_CURSOR *cursor, struct bytes key);
	int (*truncate)(WT_SESSION *session, WT_CURSOR *start, struct bytes from, WT_CURSOR *stop,
	    struct bytes last);
	int (*count)(WT_CONNECTION *connection);
	int (*counted)(WT_SESSION *session, int64_t counted[2]);
};

const struct shim SHIM = {
	WIREDTIGER_VERSION_MAJOR, WIREDTIGER_VERSION_MINOR,
	ember_session, ember_session_close, ember_close, ember_create, ember_drop, ember_checkpoint,
	ember_begin, ember_commit, ember_rollback, ember_verify,
	ember_cursor, ember_cursor_close, ember_reset, ember_search, ember_search_near, ember_next,
	ember_prev, ember_key, ember_value, ember_insert, ember_update, ember_remove,
	ember_truncate, ember_count, ember_counted,
};
