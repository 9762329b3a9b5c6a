#include "connection.hpp"

#include "client.hpp"
#include "server.hpp"
#include "world.hpp"

namespace baton::fleet {

connection::connection(world& world, std::shared_ptr<client> client, std::shared_ptr<fleet::server> server)
    : world_{world}, client_{std::move(client)}, server_{std::move(server)}, epoch_{server_->epoch()} {}

void connection::send(packet packet) {
    packet.epoch = epoch_;
    if (!cut_ && world_.strikes(world_.options().late_copy))
        world_.time().in(world_.draw_lateness(),
                         [self = shared_from_this(), packet] { self->server_->receive(self, packet); });
    carry(last_to_server_,
          [self = shared_from_this(), packet = std::move(packet)] { self->server_->receive(self, packet); });
}

void connection::answer(fleet::answer answer) {
    if (!answer.tag && world_.strikes(world_.options().drop_notice)) return;
    carry(last_to_client_, [self = shared_from_this(), answer = std::move(answer)] {
        const bool news = answer.epoch > self->epoch_;
        self->epoch_ = std::max(self->epoch_, answer.epoch);
        self->client_->receive(answer);
        // The worst moment: the client knows the new epoch and cannot present its requests.
        if (news && self->world_.strikes(self->world_.options().cut_off_at_news))
            self->world_.suffer_outage(self->client_);
    });
}

void connection::refuse() {
    cut();
    client_->lose(shared_from_this());
}

void connection::carry(true_time& last, std::function<void()> arrive) {
    const profile& profile = world_.options();
    if (cut_ || world_.time().now() < silent_until_) return;
    if (world_.strikes(profile.drop)) return;
    true_time when = world_.time().now() + world_.draw_delay();
    if (!world_.strikes(profile.reorder)) when = last = std::max(when, last);
    const auto deliver = [self = shared_from_this(), arrive = std::move(arrive)] {
        if (self->world_.time().now() < self->silent_until_) return;
        if (!self->cut_) return arrive();
        if (self->world_.dice().percent(50)) return;
        self->world_.time().in(self->world_.draw_lateness(), arrive);  // late bytes of an old connection
    };
    world_.time().at(when, deliver);
    if (world_.strikes(profile.duplicate)) world_.time().at(when + world_.draw_delay(), deliver);
}

}  // namespace baton::fleet
