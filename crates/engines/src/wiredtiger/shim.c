/* WiredTiger's functions are members of its handles, whose layout only wiredtiger.h knows: one
 * plain function for each call the engine makes, and nothing else. */
#include <wiredtiger.h>

#if WIREDTIGER_VERSION_MAJOR < 3
#error "WiredTiger 3 or later is needed"
#endif

/* Outside of the library's own codes (-31800 to -31999) and of errno (positive). */
#define ABSENT (-1)

_Static_assert(WT_ROLLBACK == -31800, "ffi.rs has this code");

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

int ember_wt_open(const char *home, const char *config, WT_CONNECTION **connection)
{
	return wiredtiger_open(home, NULL, config, connection);
}

int ember_wt_session(WT_CONNECTION *connection, WT_SESSION **session)
{
	return connection->open_session(connection, NULL, "isolation=snapshot", session);
}

int ember_wt_session_close(WT_SESSION *session) { return session->close(session, NULL); }
int ember_wt_close(WT_CONNECTION *connection) { return connection->close(connection, NULL); }

int ember_wt_create(WT_SESSION *session, const char *uri, const char *config)
{
	return session->create(session, uri, config);
}

int ember_wt_drop(WT_SESSION *session, const char *uri) { return session->drop(session, uri, NULL); }
int ember_wt_checkpoint(WT_SESSION *session) { return session->checkpoint(session, NULL); }
int ember_wt_begin(WT_SESSION *session) { return session->begin_transaction(session, NULL); }
int ember_wt_commit(WT_SESSION *session) { return session->commit_transaction(session, NULL); }
int ember_wt_rollback(WT_SESSION *session) { return session->rollback_transaction(session, NULL); }

int ember_wt_cursor(WT_SESSION *session, const char *uri, const char *config, WT_CURSOR **out)
{
	return session->open_cursor(session, uri, NULL, config, out);
}

int ember_wt_cursor_close(WT_CURSOR *cursor) { return cursor->close(cursor); }
int ember_wt_reset(WT_CURSOR *cursor) { return cursor->reset(cursor); }

int ember_wt_search(WT_CURSOR *cursor, struct bytes key)
{
	give_key(cursor, key);
	return plain(cursor->search(cursor));
}

int ember_wt_search_near(WT_CURSOR *cursor, struct bytes key, int *beside)
{
	give_key(cursor, key);
	return plain(cursor->search_near(cursor, beside));
}

int ember_wt_next(WT_CURSOR *cursor) { return plain(cursor->next(cursor)); }
int ember_wt_prev(WT_CURSOR *cursor) { return plain(cursor->prev(cursor)); }

int ember_wt_key(WT_CURSOR *cursor, struct bytes *key)
{
	WT_ITEM item;
	int rc = cursor->get_key(cursor, &item);
	if (rc == 0)
		*key = (struct bytes){ item.data, item.size };
	return rc;
}

int ember_wt_value(WT_CURSOR *cursor, struct bytes *value)
{
	WT_ITEM item;
	int rc = cursor->get_value(cursor, &item);
	if (rc == 0)
		*value = (struct bytes){ item.data, item.size };
	return rc;
}

int ember_wt_insert(WT_CURSOR *cursor, struct bytes key, struct bytes value)
{
	give_key(cursor, key);
	give_value(cursor, value);
	return cursor->insert(cursor);
}

int ember_wt_update(WT_CURSOR *cursor, struct bytes value)
{
	give_value(cursor, value);
	return cursor->update(cursor);
}

int ember_wt_remove(WT_CURSOR *cursor, struct bytes key)
{
	give_key(cursor, key);
	return plain(cursor->remove(cursor));
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
int ember_wt_verify(WT_CONNECTION *connection, const char *uri,
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
