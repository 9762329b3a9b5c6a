// The replies to the clients' messages. Refusals by the rules are events. Errors are for messages that are malformed,
// exceed the limits of this agent, or come from a client of another version.
#include <sys/socket.h>
#include <unistd.h>

#include "agent/server.hpp"
#include "system/pidfd.hpp"

namespace baton::agent {

void server::reply(const std::shared_ptr<peer>& from, const resp::value& request, std::string& out) {
    // The state file says that there are no sessions, so the client must repeat the command at the successor.
    if (stopping_) return from->drop();
    const resp::decoded_request decoded = resp::decode_request(request);
    if (!decoded.request) return resp::writer{out}.error(decoded.error);
    std::visit([&](const auto& what) { reply(from, what, out); }, *decoded.request);
}

void server::reply(const std::shared_ptr<peer>& from, const protocol::command& command, std::string& out) {
    space* space = find_space(from->space);
    if (space == nullptr) return resp::writer{out}.error("LIMIT too many spaces");
    if (const std::string over = over_limit(*space, command); !over.empty())
        return resp::writer{out}.error("LIMIT " + over);
    if (const std::error_code failed = record(command))
        return resp::writer{out}.error("UNRECORDED the agent cannot record in " + state_.path() +
                                       " that it has clients: " + failed.message());
    // A client that passed no pidfds, for instance redis-cli: the kernel may provide one.
    if (std::holds_alternative<protocol::open>(command) && !from->is_bound()) {
        resp::passed_descriptors pidfds;
        if (auto pidfd = keep(detail::pidfd_of_peer(from->socket()))) pidfds.push_back(std::move(pidfd));
        watch(from, pidfds);
    }
    const std::size_t before = space->engine().session_count();
    space::notices notices;
    const auto& events = space->perform(command, from, notices);
    count_sessions(before, space->engine().session_count());
    resp::encode_reply(out, epoch_, events);
    deliver(*space, notices);
}

/// The state file must show that there are sessions before the first one is opened. A renewal writes the file again if
/// it was removed.
std::error_code server::record(const protocol::command& command) {
    if (std::holds_alternative<protocol::open>(command)) return state_.serving(true);
    if (std::holds_alternative<protocol::renew>(command) && sessions_ > 0) static_cast<void>(state_.serving(true));
    return {};
}

std::string server::over_limit(const space& space, const protocol::command& command) const {
    const auto* enter = std::get_if<protocol::enter>(&command);
    const auto* open = std::get_if<protocol::open>(&command);
    if (enter != nullptr && space.engine().request_count(enter->request.session) < limits_.requests_a_session)
        return {};
    if (open != nullptr && open->live.size() <= limits_.requests_a_session) {
        const bool one_too_many = sessions_ >= limits_.sessions && !space.knows(open->session);
        return one_too_many ? "too many sessions" : "";
    }
    if (enter == nullptr && open == nullptr) return {};
    return "a session has at most " + std::to_string(limits_.requests_a_session) + " requests";
}

/// An idle agent of another version ends, so that the client can start its own. An agent in use replies with an error.
void server::reply(const std::shared_ptr<peer>& from, const resp::hello& hello, std::string& out) {
    if (hello.version != resp::wire_version) {
        const std::string self = options_.program + ", process " + std::to_string(getpid()) + ", speaks version " +
                                 std::to_string(resp::wire_version) + " and not " + std::to_string(hello.version);
        if (has_no_state() && peers_.size() == 1) {
            resp::writer{out}.error("RETIRING this agent, " + self + ", and makes way");
            from->finish();
            return stop();
        }
        resp::writer{out}.error("VERSION this agent, " + self + "; it is in use and cannot make way");
        return from->finish();
    }
    if (hello.processes)
        if (const std::string wrong = bind_processes(from, *hello.processes); !wrong.empty())
            return resp::writer{out}.error(wrong);
    from->space = hello.space;
    resp::encode(out, resp::hello_reply{resp::wire_version, epoch_, options_.program});
}

/// Binds a connection to the processes whose pidfds came with the handshake. Returns the error, or an empty string.
std::string server::bind_processes(const std::shared_ptr<peer>& from, std::uint64_t count) {
    const resp::passed_descriptors pidfds = from->take_passed();
    if (from->is_bound()) return "ERR a connection names its processes once, before it opens a session";
    if (count > resp::most_passed) return "LIMIT a session is of at most two processes";
    for (const auto& each : pidfds)
        if (!detail::is_pidfd(each->get())) return "ERR a descriptor that came with BATON.HELLO is not a pidfd";
    if (pidfds.size() > count) return "ERR more pidfds came with BATON.HELLO than it names processes";
    // Pidfds are missing if the kernel, the agent's limits or a proxy dropped them. Then only the ttl ends the session,
    // because a session of two processes must not end with the first of them.
    watch(from, pidfds.size() == count ? pidfds : resp::passed_descriptors{});
    return {};
}

/// The agent kills only processes of the user who sent the message. It kills a control group, which may contain
/// processes of other users, only for its own user. An agent that is neither root nor of that user cannot kill them.
void server::reply(const std::shared_ptr<peer>& from, const resp::sweep& sweep, std::string& out) {
    ucred user{};
    socklen_t size = sizeof user;
    if (getsockopt(from->socket(), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0 ||
        (geteuid() != 0 && geteuid() != user.uid))
        return resp::writer{out}.error("DENIED this agent may not end processes of other users");
    from->tree = owned_tree{sweep.tree, user.uid};
    std::string& group = from->tree->tree.control_group;
    if (user.uid != geteuid() || !is_control_group_of(group, sweep.tree.cookie)) group.clear();
    resp::writer{out}.simple("OK");
}

void server::reply(const std::shared_ptr<peer>& from, const resp::inspect_request& inspect, std::string& out) {
    const space* space = find_space(from->space);
    if (space == nullptr) return resp::writer{out}.error("LIMIT too many spaces");
    resp::encode(out, space->inspect(inspect.filter));
}

void server::reply(const std::shared_ptr<peer>&, const resp::ping&, std::string& out) {
    resp::writer{out}.simple("PONG");
}

/// The first command of `redis-cli -3` and of client libraries.
void server::reply(const std::shared_ptr<peer>&, const resp::redis_hello& hello, std::string& out) {
    resp::writer write{out};
    if (hello.protocol != 3) return write.error("NOPROTO this agent speaks RESP3 only");
    write.map(4);
    write.bulk("server");
    write.bulk("baton");
    write.bulk("version");
    write.bulk(options_.program);
    write.bulk("proto");
    write.number(std::uint64_t{3});
    write.bulk("wire");  // for doctor, which sends no BATON.HELLO: an idle agent of another version would end
    write.number(resp::wire_version);
}

}  // namespace baton::agent
