/* WiredTiger's functions are members of its handles, whose layout only the wiredtiger.h of that
 * version knows: one plain function for each call the engine makes, and a table of them, named
 * SHIM, for each version whose header is there. The library is opened at run time: nothing of it is
 * called here but by its handles. */
#include <wiredtiger.h>

#if WIREDTIGER_VERSION_MAJOR < 3
#error "WiredTiger 3 or later is needed"
#endif

/* Outside of the library's own codes (-31800 to -31999) and of errno (positive). */
#define ABSENT (-1)

_Static_assert(WT_ROLLBACK == -31800, "store/ffi.rs has this code");

static int plain(int rc) { return rc == WT_NOTFOUND ? ABSENT : rc; }

struct bytes {
	const void *at;
	size_t size;
};

static void give_key(WT_CURSOR *cursor, struct bytes key)
{
	WT_ITEM item = { .data = key.at, .size = key.size };
	cursor->set_key(cursor, &item);
}

static void give_value(WT_CURSOR *cursor, struct bytes value)
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
	give_key(cursor, key);
	return plain(cursor->search(cursor));
}

static int ember_search_near(WT_CURSOR *cursor, struct bytes key, int *beside)
{
	give_key(cursor, key);
	return plain(cursor->search_near(cursor, beside));
}

static int ember_next(WT_CURSOR *cursor) { return plain(cursor->next(cursor)); }
static int ember_prev(WT_CURSOR *cursor) { return plain(cursor->prev(cursor)); }

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
	give_key(cursor, key);
	give_value(cursor, value);
	return cursor->insert(cursor);
}

static int ember_update(WT_CURSOR *cursor, struct bytes value)
{
	give_value(cursor, value);
	return cursor->update(cursor);
}

static int ember_remove(WT_CURSOR *cursor, struct bytes key)
{
	give_key(cursor, key);
	return plain(cursor->remove(cursor));
}

/* Removes keys from one up to and with another, which need not be there, by two cursors of the session. */
static int ember_truncate(WT_SESSION *session, WT_CURSOR *start, struct bytes from,
    WT_CURSOR *stop, struct bytes last)
{
	give_key(start, from);
	give_key(stop, last);
	return plain(session->truncate(session, NULL, start, stop, NULL));
}

/* Has the connection count what it does. */
static int ember_count(WT_CONNECTION *connection)
{
	return connection->reconfigure(connection, "statistics=(fast)");
}

/* What it counted: checkpoints that run, and pages that threads of the program had to evict. */
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

/* What a session says of itself, passed on. */
struct listener {
	WT_EVENT_HANDLER handler;
	void (*tell)(void *to, const char *message);
	void *to;
};

static int told(WT_EVENT_HANDLER *handler, WT_SESSION *session, int error, const char *message)
{
	struct listener *listener = (struct listener *)handler;
	(void)session;
	(void)error;
	listener->tell(listener->to, message);
	return 0;
}

/* In a session of its own, whose errors are told as they come. */
static int ember_verify(WT_CONNECTION *connection, const char *uri,
    void (*tell)(void *, const char *), void *to)
{
	struct listener listener = { { .handle_error = told }, tell, to };
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
	    void (*tell)(void *, const char *), void *to);
	int (*cursor)(WT_SESSION *session, const char *uri, const char *config, WT_CURSOR **out);
	int (*cursor_close)(WT_CURSOR *cursor);
	int (*reset)(WT_CURSOR *cursor);
	int (*search)(WT_CURSOR *cursor, struct bytes key);
	int (*search_near)(WT_CURSOR *cursor, struct bytes key, int *beside);
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
