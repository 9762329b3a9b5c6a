#include "program/agent.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "agent/server.hpp"
#include "stores/local/address.hpp"

namespace baton::agent {
namespace {

using namespace std::chrono_literals;

constexpr auto recheck_interval = 20ms;
constexpr auto between_accepts = 50ms;

/// A descriptor that receives SIGTERM and SIGINT. The agent has one thread, so it is enough to block them there.
descriptor block_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    descriptor made{signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (made.is_open()) sigprocmask(SIG_BLOCK, &signals, nullptr);
    return made;
}

}  // namespace

server::server(const options& options, client_room room, state_file& state, descriptor listening)
    : options_{options},
      state_{state},
      limits_{options.limits},
      room_{std::move(room)},
      epoch_{static_cast<epoch>(state.start().time_since_epoch().count())},
      listening_{std::move(listening)},
      signals_{block_signals()},
      due_timer_{loop_, [this] { tick(); }},
      idle_timer_{loop_, [this] { end_if_idle(); }},
      accept_timer_{loop_, [this] { await_clients(); }},
      stopped_timer_{loop_, [this] { recheck_stopped_processes(); }},
      sweeper_{loop_} {
    if (state.had_clients()) paused_until_ = started_ + state.pause_length();
}

void server::run() {
    // Without the descriptor, the signals keep their default action.
    if (signals_.is_open())
        static_cast<void>(
            loop_.watch(signals_.get(), EPOLLIN, std::make_shared<detail::event_callback>([this] { stop(); })));
    await_clients();
    await_idleness();
    if (options_.ready) options_.ready();
    loop_.run();
}

protocol::instant server::now() const {
    return state_.start() + std::chrono::duration_cast<protocol::duration>(clock::now() - started_);
}

void server::await_clients() {
    if (stopping_) return;
    const auto failed =
        loop_.watch(listening_.get(), EPOLLIN, std::make_shared<detail::event_callback>([this] { accept(); }));
    if (failed) accept_timer_.set_after(between_accepts);
}

void server::accept() {
    descriptor socket{accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (socket.is_open()) return add_peer(std::move(socket));
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    // Usually the process is out of descriptors: it accepts again later.
    loop_.forget(listening_.get());
    accept_timer_.set_after(between_accepts);
}

bool server::is_permitted(int socket) const {
    if (!options_.address.is_own()) return true;  // the mode of the socket file decides
    ucred user{};
    socklen_t size = sizeof user;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &user, &size) == 0 && user.uid == geteuid();
}

void server::add_peer(descriptor socket) {
    const int descriptor = socket.get();
    const auto made = std::make_shared<peer>(loop_, std::move(socket), *this);
    peers_.insert(made);
    idle_timer_.cancel();
    if (!is_permitted(descriptor)) {
        resp::writer{made->out()}.error("DENIED this agent serves user " + std::to_string(geteuid()) + " only");
        return made->finish();
    }
    if (peers_.size() > room_.clients) {
        const std::string why = room_.why.empty() ? "" : ", as " + room_.why;
        resp::writer{made->out()}.error("LIMIT this agent, process " + std::to_string(getpid()) + ", serves at most " +
                                        std::to_string(room_.clients) + " clients at a time" + why);
        return made->finish();
    }
    made->start();
}

/// Bounds the descriptors that clients pass to the agent: two for each client that it may have.
std::shared_ptr<const descriptor> server::keep(descriptor passed) {
    if (!passed.is_open() || kept_ >= room_.clients * resp::most_passed) return nullptr;
    ++kept_;
    return {new descriptor{std::move(passed)}, [this](const descriptor* kept) {
                delete kept;
                --kept_;
            }};
}

/// Each connection has its own watch, also if one process has several connections. So the cost of an end grows with the
/// sessions of that connection only.
void server::watch(const std::shared_ptr<peer>& from, const resp::passed_descriptors& pidfds) {
    from->bind(process_watch::make(
        loop_, pidfds, from, [this](const auto& ended) { end_processes(ended); },
        [this](const auto& ended) { end_some_processes(ended); }));
}

/// Input from before the end is performed first, because it may contain the releases of an orderly exit.
void server::end_processes(const std::shared_ptr<process_watch>& processes) {
    const auto peer = processes->peer();
    if (peer) peer->drain();
    for (auto& [name, space] : spaces_) {
        std::vector<space::swept_session> to_sweep;
        change(name, [&](agent::space& each) { return each.end_processes(processes, to_sweep); });
        sweep(name, to_sweep);
    }
    flush_notices();
    if (peer) peer->flush();
}

/// One of baton and its guardian has ended. The other one kills the processes of the command; if it is stopped, the
/// agent kills them. It may also be stopped before it has finished, so the agent checks it repeatedly.
void server::end_some_processes(const std::shared_ptr<process_watch>& processes) {
    const bool to_be_swept =
        std::ranges::any_of(spaces_, [&](const auto& entry) { return entry.second.has_tree(processes); });
    if (processes->ended() || !to_be_swept) return;
    if (processes->others_stopped()) {
        for (auto& [name, space] : spaces_) sweep(name, space.begin_sweep(processes));
        return;
    }
    if (to_recheck_.empty()) stopped_timer_.set_after(recheck_interval);
    to_recheck_.push_back(processes);
}

void server::recheck_stopped_processes() {
    for (const auto& each : std::exchange(to_recheck_, {}))
        if (const auto known = each.lock()) end_some_processes(known);
}

/// Closes each session after its processes are killed.
void server::sweep(const std::string& space, const std::vector<space::swept_session>& sessions) {
    for (const auto& [session, tree] : sessions)
        sweeper_.sweep(
            tree, [this, space, session] { change(space, [&](agent::space& each) { return each.prolong(session); }); },
            [this, space, session] {
                change(space, [&](agent::space& each) { return each.close_gone(session); });
                flush_notices();
            });
}

/// Calls `how` if the space still exists, then counts its sessions and delivers the notifications.
void server::change(const std::string& name, const std::function<space::notices(agent::space&)>& how) {
    const auto found = spaces_.find(name);
    if (found == spaces_.end()) return;
    space& space = found->second;
    const std::size_t before = space.engine().session_count();
    auto notices = how(space);
    count_sessions(before, space.engine().session_count());
    deliver(space, notices);
}

void server::ended(const std::shared_ptr<peer>& peer) {
    peers_.erase(peer);
    unflushed_.erase(peer);
    drop_spaces([](const core::engine& engine) { return engine.idle() && !engine.remembers_ended(); });
    await_idleness();
}

/// A new space of the same name takes its tickets from the clock. So a space is dropped only when the clock has passed
/// its last ticket or fence.
void server::drop_spaces(bool (*unused)(const core::engine&)) {
    const auto by_clock = static_cast<protocol::serial>(now().time_since_epoch().count());
    std::erase_if(spaces_, [&](const auto& entry) {
        return unused(entry.second.engine()) && entry.second.engine().last_serial() < by_clock;
    });
}

space* server::find_space(const std::string& name) {
    if (const auto found = spaces_.find(name); found != spaces_.end()) return &found->second;
    // At the limit, spaces that only remember ended sessions are dropped before a client is refused.
    if (spaces_.size() >= limits_.spaces) drop_spaces([](const core::engine& engine) { return engine.idle(); });
    if (spaces_.size() >= limits_.spaces) return nullptr;
    std::optional<protocol::instant> pause;
    if (paused_until_ && clock::now() < *paused_until_)
        pause = state_.start() + std::chrono::duration_cast<protocol::duration>(*paused_until_ - started_);
    return &spaces_.try_emplace(name, state_.max_ttl(), now(), pause).first->second;
}

/// Encodes the notifications; flush_notices sends them after the whole batch of commands.
void server::deliver(const space& space, space::notices& notices) {
    for (const auto& [to, event] : notices) {
        resp::encode_notice(to->out(), epoch_, event);
        unflushed_.insert(to);
    }
    arm(space.next_due());
}

void server::flush_notices() {
    if (unflushed_.empty()) return;
    for (const auto& peer : std::exchange(unflushed_, {})) peer->flush();
}

void server::count_sessions(std::size_t before, std::size_t after) {
    sessions_ = sessions_ - before + after;
    if (may_have_clients()) return;
    // If the write fails, the successor makes an unnecessary pause.
    static_cast<void>(state_.serving(false));
}

/// There are sessions, or clients of the predecessor may still reconnect.
bool server::may_have_clients() const { return sessions_ > 0 || (paused_until_ && clock::now() < *paused_until_); }

void server::arm(std::optional<clock::time_point> due) {
    if (stopping_ || !due || (armed_ && *armed_ <= *due)) return;
    armed_ = due;
    due_timer_.set(*due);
}

void server::tick() {
    armed_.reset();
    const auto now = clock::now();
    for (auto& [name, space] : spaces_) {
        const auto due = space.next_due();
        if (due && *due <= now) {
            const std::size_t before = space.engine().session_count();
            auto notices = space.tick();
            count_sessions(before, space.engine().session_count());
            deliver(space, notices);
        }
        arm(space.next_due());
    }
    flush_notices();
}

bool server::has_no_state() const {
    return std::ranges::all_of(spaces_, [](const auto& entry) { return entry.second.engine().idle(); });
}

void server::await_idleness() {
    if (!options_.idle_end || !peers_.empty() || stopping_) return;
    // During the pause for the predecessor's clients the agent stays: its successor would not know of the pause.
    auto end = clock::now() + *options_.idle_end;
    if (paused_until_) end = std::max(end, *paused_until_);
    idle_timer_.set(end);
}

void server::end_if_idle() {
    if (!peers_.empty()) return;
    if (has_no_state()) return stop();
    await_idleness();
}

/// Writes the state file before it gives up the address to a successor.
void server::stop() {
    if (std::exchange(stopping_, true)) return;
    if (!may_have_clients()) static_cast<void>(state_.serving(false));
    if (!options_.address.is_own()) unlink(options_.address.path.c_str());
    loop_.forget(listening_.get());
    listening_ = {};
    for (auto* timer : {&due_timer_, &idle_timer_, &accept_timer_, &stopped_timer_}) timer->cancel();
    loop_.post([this] {
        const auto peers = std::exchange(peers_, {});
        for (const auto& peer : peers) peer->flush();
        loop_.stop();
    });
}

result serve(const options& options, std::string& why) {
    for (const int each : {SIGPIPE, SIGHUP, SIGXFSZ}) signal(each, SIG_IGN);  // the calls fail with an error instead
    raise_own_limits();
    client_room room = room_for_clients(options.limits.clients);
    if (room.clients == 0) {
        why = "the agent cannot serve: " + room.why + "; raise the limit, or start the agent where it is higher";
        return result::failed;
    }
    // The agent reads the state only when it owns the address: for the user's own address after the bind, for a socket
    // file after the lock, whose owner may replace the socket file.
    state_file state;
    const auto take_state = [&] { return state.take(options.address, options.max_ttl, why); };
    auto state_taken = state_file::result::ours;
    if (!options.address.is_own()) state_taken = take_state();
    if (state_taken == state_file::result::taken) return result::taken;
    if (state_taken == state_file::result::failed) return result::failed;
    std::error_code error;
    descriptor listening{detail::listen_local(options.address, options.mode, error)};
    if (error == std::errc::address_in_use) return result::taken;
    if (error) {
        why = "cannot listen at " + options.address.url() + ": " + error.message();
        return result::failed;
    }
    if (options.address.is_own() && take_state() != state_file::result::ours) return result::failed;
    server{options, std::move(room), state, std::move(listening)}.run();
    return result::done;
}

}  // namespace baton::agent
