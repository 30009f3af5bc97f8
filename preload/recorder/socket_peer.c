/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/socket_peer.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "preload/settings/redact.h"
#include "preload/sys/paths.h"
#include "preload/sys/sys.h"

static const char net[] = "net:", local[] = "unix:";

/* Any address, and a NUL after it. */
union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_storage storage;
	char bytes[sizeof(struct sockaddr_storage) + 1];
};

static void add_ipv4(struct sp_text *text, const uint8_t *bytes)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			sp_text_add_char(text, '.');
		sp_text_add_number(text, bytes[i], 10);
	}
}

static unsigned group_of(const struct in6_addr *address, int i)
{
	return (unsigned)address->s6_addr[2 * i] << 8 | address->s6_addr[2 * i + 1];
}

/* The first of the longest run of zero groups, which is written as "::"; *ret_end: its end. */
static int longest_zeros(const struct in6_addr *address, int *ret_end)
{
	int best = 8;

	*ret_end = 8;
	for (int first = 0, end; first < 8; first = end + 1) {
		for (end = first; end < 8 && group_of(address, end) == 0; end++)
			;
		if (end - first > 1 && (best == 8 || end - first > *ret_end - best)) {
			best = first;
			*ret_end = end;
		}
	}
	return best;
}

static void add_ipv6(struct sp_text *text, const struct in6_addr *address)
{
	int end, zeros = longest_zeros(address, &end);

	for (int i = 0; i < 8; i++) {
		if (i == zeros) {
			sp_text_add(text, "::");
			i = end - 1;
			continue;
		}
		if (i && i != end)
			sp_text_add_char(text, ':');
		sp_text_add_number(text, group_of(address, i), 16);
	}
}

static size_t net_name(const union address *address, int with_port, char *ret)
{
	struct sp_text text = sp_text_init(ret, SP_PEER_NAME_BYTES);
	int is_ipv4 =
		address->any.sa_family == AF_INET || IN6_IS_ADDR_V4MAPPED(&address->in6.sin6_addr);

	sp_text_add(&text, net);
	if (is_ipv4) {
		add_ipv4(&text, address->any.sa_family == AF_INET
					? (const uint8_t *)&address->in.sin_addr
					: &address->in6.sin6_addr.s6_addr[12]);
	} else {
		sp_text_add_char(&text, '[');
		add_ipv6(&text, &address->in6.sin6_addr);
		sp_text_add_char(&text, ']');
	}
	if (with_port) { /* both families have it at the same place */
		sp_text_add_char(&text, ':');
		sp_text_add_number(&text, ntohs(address->in.sin_port), 10);
	}
	return sizeof(net) - 1 +
	       sp_redact_peer(ret + sizeof(net) - 1, strlen(ret) - (sizeof(net) - 1));
}

static size_t unix_name(union address *address, size_t bytes, char *ret)
{
	size_t head = offsetof(struct sockaddr_un, sun_path);
	struct sp_text text = sp_text_init(ret, SP_PEER_NAME_BYTES);
	char *path = address->un.sun_path;

	if (bytes <= head)
		return 0;
	address->bytes[bytes] = 0;
	sp_text_add(&text, local);
	if (!*path) /* abstract: a NUL ahead, and no NUL at the end */
		sp_text_add_char(&text, '@');
	sp_text_add(&text, path + !*path);
	path = ret + sizeof(local) - 1;
	return sizeof(local) - 1 +
	       (*path == '/' ? sp_redact(path, strlen(path)) : sp_redact_peer(path, strlen(path)));
}

static int is_net(const union address *address, size_t bytes)
{
	return (address->any.sa_family == AF_INET && bytes >= sizeof(address->in)) ||
	       (address->any.sa_family == AF_INET6 && bytes >= sizeof(address->in6));
}

size_t sp_peer_name_of(const struct sockaddr *address, socklen_t bytes, char *ret)
{
	union address copy;

	if (bytes < sizeof(sa_family_t) || bytes > sizeof(copy.storage))
		return 0;
	memset(&copy, 0, sizeof(copy));
	memcpy(&copy, address, bytes);
	if (is_net(&copy, bytes))
		return net_name(&copy, 1, ret);
	return copy.any.sa_family == AF_UNIX ? unix_name(&copy, bytes, ret) : 0;
}

size_t sp_peer_name_unseen(int fd, char *ret)
{
	struct sp_text text = sp_text_init(ret, SP_PEER_NAME_BYTES);
	union address address;
	socklen_t bytes = sizeof(address.storage), domain_bytes = sizeof(int);
	int domain = 0;

	memset(&address, 0, sizeof(address));
	if (SP_SYS3(SYS_getpeername, fd, &address, &bytes) == 0)
		return is_net(&address, bytes) ? net_name(&address, 0, ret) : 0;
	if (SP_SYS6(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_bytes, 0) < 0 ||
	    (domain != AF_INET && domain != AF_INET6))
		return 0;
	sp_text_add(&text, net);
	sp_text_add(&text, "(not connected)");
	return strlen(ret);
}

int sp_peer_is_net(const char *name)
{
	return strncmp(name, net, sizeof(net) - 1) == 0;
}
