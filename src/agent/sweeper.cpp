#include "agent/sweeper.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

namespace baton::agent {
namespace {

using std::chrono::steady_clock;

constexpr int processes_per_round = 64;
constexpr std::chrono::milliseconds between_passes{5};

/// The cookies in an environment from /proc; empty if there are none.
std::string_view cookies_in(std::string_view environment) {
    while (!environment.empty()) {
        const std::size_t end = std::min(environment.find('\0'), environment.size());
        const std::string_view entry = environment.substr(0, end);
        if (entry.starts_with(tree_variable) && entry.substr(tree_variable.size()).starts_with('='))
            return entry.substr(tree_variable.size() + 1);
        environment.remove_prefix(std::min(end + 1, environment.size()));
    }
    return {};
}

bool has_cookie(std::string_view cookies, std::string_view cookie) {
    while (!cookies.empty()) {
        const std::size_t end = std::min(cookies.find(':'), cookies.size());
        if (cookies.substr(0, end) == cookie) return true;
        cookies.remove_prefix(std::min(end + 1, cookies.size()));
    }
    return false;
}

std::unique_ptr<process_table> make_table() {
    try {
        return std::make_unique<process_table>();
    } catch (const std::system_error&) {
        return nullptr;
    }
}

}  // namespace

sweeper::task::task(owned_tree tree, std::function<void()> keep_alive, std::function<void()> on_done)
    : owned{std::move(tree)}, keep{std::move(keep_alive)}, done{std::move(on_done)}, plan{steady_clock::now()} {
    group.open(owned.tree.control_group, false);
}

sweeper::sweeper(detail::event_loop& loop)
    : loop_{loop}, timer_{loop, [this] { begin_pass(); }}, table_{make_table()} {}

void sweeper::sweep(const owned_tree& owned, std::function<void()> keep, std::function<void()> done) {
    tasks_.emplace_back(owned, std::move(keep), std::move(done));
    if (!std::exchange(passing_, true)) begin_pass();
}

void sweeper::begin_pass() {
    for (task& each : tasks_) {
        each.joined = true;
        each.found = false;
        each.keep();
        each.group.kill();
    }
    failed_ = table_ == nullptr;
    if (table_) table_->begin();
    scan_some();
}

void sweeper::scan_some() {
    for (int scanned = 0; table_ && scanned < processes_per_round; ++scanned) {
        const auto process = table_->next();
        if (!process) return end_pass();
        if (*process != ::getpid()) scan(*process);
    }
    if (!table_) return end_pass();
    loop_.post([this] { scan_some(); });
}

void sweeper::scan(pid_t process) {
    uid_t owner = 0;
    const seen read = table_->contents(process, "environ", text_, &owner);
    if (read == seen::failed) failed_ = true;
    if (read != seen::found) return;
    const std::string cookies{cookies_in(text_)};
    if (cookies.empty()) return;
    for (task& each : tasks_) {
        if (owner != each.owned.user || !has_cookie(cookies, each.owned.tree.cookie)) continue;
        each.found = true;
        // Checked again with the process's pidfd open, so that its id cannot mean another process.
        const seen sent = table_->signal(process, SIGKILL, [&] {
            return table_->contents(process, "environ", text_, &owner) == seen::found && owner == each.owned.user &&
                   has_cookie(cookies_in(text_), each.owned.tree.cookie);
        });
        if (sent == seen::failed) failed_ = true;
    }
}

void sweeper::end_pass() {
    const bool complete = !failed_ && !table_->failed();
    const auto now = steady_clock::now();
    for (auto next = tasks_.begin(); next != tasks_.end();) {
        const auto each = next++;
        const bool clean = complete && !each->found && !each->group.populated().value_or(false);
        if (!each->joined || !each->plan.passed(clean, now)) continue;
        each->group.remove();
        const auto done = std::move(each->done);
        tasks_.erase(each);
        done();
    }
    passing_ = !tasks_.empty();
    if (passing_) timer_.set_after(between_passes);
}

}  // namespace baton::agent
