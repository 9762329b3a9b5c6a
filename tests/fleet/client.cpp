#include "client.hpp"

#include <algorithm>

#include "connection.hpp"
#include "server.hpp"
#include "world.hpp"

namespace baton::fleet {
namespace {

constexpr std::uint32_t permit_limit = 4;
constexpr std::size_t most_operations = 5;  // per client at a time
constexpr std::chrono::seconds close_wait{1};

protocol::release_kind draw_release_kind(dice& dice) {
    return dice.percent(80)   ? protocol::release_kind::clean
           : dice.percent(50) ? protocol::release_kind::keep
                              : protocol::release_kind::unclean;
}

std::vector<claim> draw_claims(dice& dice, const std::vector<std::string>& names) {
    std::vector<claim> claims;
    for (const std::string& name : names) {
        if (!claims.empty() && !dice.percent(25)) continue;
        if (claims.empty() && &name != &names.back() && dice.percent(50)) continue;
        if (dice.percent(60))
            claims.push_back({name, claim_mode::exclusive, 0, 0});
        else if (dice.percent(50))
            claims.push_back({name, claim_mode::shared, 0, 0});
        else
            claims.push_back({name, claim_mode::permits, static_cast<std::uint32_t>(dice.between(1, 3)), permit_limit});
    }
    return claims;
}

}  // namespace

client::client(world& world, std::size_t number)
    : world_{world},
      name_{"client " + std::to_string(number)},
      clock_{std::chrono::seconds{world.dice().between(1, 10'000)}, world.draw_drift()},
      in_parts_{number % 3 == 0},
      session_{{.ttl = world.draw_ttl(), .label = name_, .open_size = in_parts_ ? 1U : 1'000'000U}, [this, number] {
                   return protocol::session_id{number, ++drawn_};
               }} {}

void client::start() {
    connect();
    think();
}

client::client_time client::local_time() const {
    const true_time now = world_.time().now();
    return client_time{clock_.reading(world_.without().suspend_clock ? now - slept_ : now)};
}

void client::take(input input) {
    if (dead_) return;
    if (world_.time().now() < paused_until_)
        backlog_.push_back(std::move(input));
    else
        run(input);
}

void client::run(const input& input) {
    if (dead_) return;
    input(local_time());
    for (const detail::action& action : session_.take_actions()) perform(action);
    world_.judge().check_beliefs(*this);
    std::erase_if(operations_, [](const auto& entry) { return entry.second->phase == operation::phase::over; });
    arm();
}

void client::perform(const detail::action& action) {
    judge& judge = world_.judge();
    if (const auto* send = std::get_if<detail::send>(&action)) {
        if (const auto* enter = std::get_if<protocol::enter>(&send->command)) {
            judge.entered(*enter);
            used_ = std::max(used_, enter->request.number);
        }
        const auto* const open = std::get_if<protocol::open>(&send->command);
        if (open != nullptr) judge.presented(*open);
        // One of several `open`s may have a smaller number: see reopen.cpp.
        const std::uint64_t used = open != nullptr && in_parts_ ? open->highest : used_;
        if (connection_) connection_->send({send->tag, 0, send->command, used});
    } else if (std::holds_alternative<detail::reset_connection>(action)) {
        world_.time().in(micros{0}, [self = shared_from_this(), connection = connection_] {
            if (self->connection_ == connection) self->drop_connection();
        });
    } else if (const auto* acquired = std::get_if<detail::acquired>(&action)) {
        operation& operation = *operations_.at(acquired->handle);
        world_.log(name_ + " holds, fence " + std::to_string(acquired->grant.fence));
        judge.acquired(operation, acquired->grant);
        hold(operation);
    } else if (const auto* failed = std::get_if<detail::not_acquired>(&action)) {
        judge.failed(*operations_.at(failed->handle));
    } else if (const auto* lost = std::get_if<detail::lost>(&action)) {
        world_.log(name_ + " lost " + std::to_string(operations_.at(lost->handle)->fence) + ": " +
                   std::string{to_string(lost->reason)});
        judge.lost(*operations_.at(lost->handle), lost->reason, lost->over);
    } else if (const auto* seen = std::get_if<detail::observed>(&action);
               seen != nullptr && seen->what == detail::observed::what::queued) {
        judge.received_position(queued_);
    } else if (std::holds_alternative<detail::operated>(action) && closing_) {
        kill();
    }
}

/// Sets the client's timer; the simulated operating system may call it late.
void client::arm() {
    const auto next = session_.next_wake();
    if (!next) return;
    const micros slept = world_.without().suspend_clock ? slept_ : micros{0};
    const true_time due = std::max(clock_.when(next->time_since_epoch()) + slept, world_.time().now());
    world_.time().at(due + world_.draw_jitter(), [self = shared_from_this(), timer = ++timer_] {
        if (timer != self->timer_) return;
        self->take([self](client_time now) { self->session_.wake(now); });
    });
}

void client::connect() {
    if (dead_ || connecting_) return;
    connecting_ = true;
    world_.time().in(world_.draw_backoff(), [self = shared_from_this()] {
        self->connecting_ = false;
        if (self->dead_ || self->connection_) return;
        auto server = self->world_.reachable(*self);
        if (!server) return self->connect();
        self->shake_hands(*server);
        self->connection_ = std::make_shared<fleet::connection>(self->world_, self, std::move(server));
        self->take(
            [self, epoch = self->knowledge_.epoch](client_time now) { self->session_.connection_up(now, epoch); });
    });
}

void client::shake_hands(server& server) {
    const epoch found = server.handshake(knowledge_);
    if (found != knowledge_.epoch) knowledge_ = {found, 0};
    world_.shakes_hands(*this);
    met_ = world_.moves() + 1;
}

/// Records the largest number of the epoch that the client follows or followed.
void client::learn(const answer& answer) {
    if (answer.epoch < knowledge_.epoch) return;
    if (answer.epoch > knowledge_.epoch) knowledge_ = {answer.epoch, 0};
    for (const protocol::event& event : answer.events) {
        if (const auto* granted = std::get_if<protocol::granted>(&event.what))
            knowledge_.serial = std::max(knowledge_.serial, granted->fence);
        if (const auto* queued = std::get_if<protocol::queued>(&event.what))
            knowledge_.serial = std::max(knowledge_.serial, queued->ticket);
    }
}

void client::drop_connection() {
    if (!connection_) return;
    connection_->cut();
    connection_.reset();
    take([self = shared_from_this()](client_time now) { self->session_.connection_down(now); });
    connect();
}

void client::notice_cut(micros after) {
    world_.time().in(after, [self = shared_from_this(), connection = connection_] {
        if (self->connection_ == connection) self->drop_connection();
    });
}

void client::lose(const std::shared_ptr<fleet::connection>& connection) {
    world_.time().in(micros{0}, [self = shared_from_this(), connection] {
        if (self->connection_ == connection) self->drop_connection();
    });
}

/// Also receives late replies of an old connection, which the session machine must recognise.
void client::receive(const answer& answer) {
    take([self = shared_from_this(), answer](client_time now) {
        self->learn(answer);
        for (const protocol::event& event : answer.events) {
            if (const auto* queued = std::get_if<protocol::queued>(&event.what)) self->queued_ = queued->request;
            if (const auto* ended = std::get_if<protocol::ended>(&event.what))
                self->world_.judge().received_end(ended->request);
            if (const auto* granted = std::get_if<protocol::granted>(&event.what))
                self->world_.judge().received_end(granted->request);
        }
        if (answer.tag) return self->session_.reply(now, *answer.tag, answer.epoch, answer.events);
        for (const protocol::event& event : answer.events) self->session_.notice(now, answer.epoch, event);
    });
}

void client::pause(micros length, bool whole_machine) {
    const true_time until = world_.time().now() + length;
    if (until <= paused_until_) return;
    if (whole_machine) slept_ += until - std::max(paused_until_, world_.time().now());
    paused_until_ = until;
    world_.time().at(until, [self = shared_from_this(), until] {
        if (self->paused_until_ != until) return;
        for (const auto& input : std::exchange(self->backlog_, {})) self->run(input);
    });
}

void client::kill() {
    if (dead_) return;
    dead_ = true;
    world_.judge().died(*this);
    backlog_.clear();  // it has references to this client
    if (connection_) connection_->cut();
    connection_.reset();
}

void client::close() {
    take([self = shared_from_this()](client_time now) {
        self->closing_ = true;
        self->session_.close(now, close_wait);
    });
    world_.time().in(close_wait, [self = shared_from_this()] { self->kill(); });  // `close` waits no longer
}

void client::revoke(const std::string& resource, protocol::serial ticket) {
    take([self = shared_from_this(), resource, ticket](client_time now) {
        self->session_.operate(now, protocol::revoke{resource, ticket, "", false}, close_wait);
    });
}

// The user.

void client::think() {
    world_.time().in(world_.draw_thought(), [self = shared_from_this()] {
        if (self->dead_ || !self->world_.users_busy()) return;
        self->take([self](client_time now) { self->acquire(now); });
        self->think();
    });
}

void client::acquire(client_time now) {
    if (operations_.size() >= most_operations) return session_.wake(now);
    dice& dice = world_.dice();
    operation& operation = world_.judge().started(shared_from_this(), draw_claims(dice, world_.options().names));
    detail::acquire_order order;
    order.claims = operation.claims;
    order.queue_bound = first_bound + operation.id;
    order.nowait = dice.percent(15);
    if (dice.percent(30)) order.wait = std::chrono::milliseconds{dice.between(1, 3'000)};
    if (dice.percent(20)) order.hold_limit = std::chrono::milliseconds{dice.between(50, 1'500)};
    operation.handle = session_.acquire(now, std::move(order));
    operations_.emplace(operation.handle, &operation);
    if (dice.percent(20)) give_up_on(operation);
}

void client::give_up_on(operation& operation) {
    world_.time().in(
        std::chrono::milliseconds{world_.dice().between(0, 1'500)}, [self = shared_from_this(), &operation] {
            self->take([self, &operation](client_time now) {
                self->session_.cancel(now, operation.handle, std::make_error_code(std::errc::operation_canceled));
            });
        });
}

void client::hold(operation& operation) {
    dice& dice = world_.dice();
    const auto length = std::chrono::milliseconds{dice.percent(10) ? dice.between(0, 8'000) : dice.between(0, 300)};
    world_.time().in(length, [self = shared_from_this(), &operation] { self->release(operation); });
}

void client::release(operation& operation) {
    take([self = shared_from_this(), &operation](client_time now) {
        if (operation.phase != operation::phase::held) return self->session_.wake(now);
        self->world_.judge().released(operation);
        self->session_.release(now, operation.handle, draw_release_kind(self->world_.dice()));
    });
}

}  // namespace baton::fleet
