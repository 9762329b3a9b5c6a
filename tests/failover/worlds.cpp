#include "worlds.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../eventually.hpp"
#include "../redis/cluster.hpp"
#include "../redis/proxy.hpp"
#include "../redis/replication.hpp"
#include "../redis/sentinels.hpp"
#include "../redis/unpaused_space.hpp"

namespace baton::failover {
namespace {

using namespace std::chrono_literals;
using redis_tests::info;
using redis_tests::private_server;
using redis_tests::proxy;
using std::chrono::milliseconds;

/// Leaves no byte through, and no connection is closed.
constexpr redis_tests::proxy_rules silent{.delay = 1h};

void require(bool done, const char* what) {
    if (!done) throw std::runtime_error{what};
}

/// Part of the sequence, no wait for anything.
void pass_time(dice& dice, std::size_t least_ms, std::size_t most_ms) {
    std::this_thread::sleep_for(milliseconds{dice.between(least_ms, most_ms)});
}

/// A field of INFO replication; empty while the server closes connections, stands still, or is down.
std::string replication(const private_server& server, const std::string& field) {
    if (!answers(server.at())) return {};
    resp_client client{server.at()};
    if (!client.say({"INFO", "replication"})) return {};
    const auto reply = client.hear(200ms);
    if (!reply) return {};
    const std::size_t found = reply->text.find("\n" + field + ":");
    if (found == std::string::npos) return {};
    const std::size_t begin = found + field.size() + 2;
    return reply->text.substr(begin, reply->text.find_first_of("\r\n", begin) - begin);
}
bool pauses(const std::string& options) { return options.find("pause=off") == std::string::npos; }

/// Without a first pause.
void make_space(const private_server& server, const std::string& options) {
    if (pauses(options)) redis_tests::make_unpaused_space(server, server.url() + options);
}
bool is_primary(const private_server& server) { return replication(server, "role") == "master"; }
bool has_link(const private_server& server) {
    return replication(server, "role") == "slave" && replication(server, "master_link_status") == "up";
}

/// Clients of a server at a path that does not change; the server may.
class site {
public:
    explicit site(const private_server& server) : proxy_{server.at(), place_.path("site")} {}
    [[nodiscard]] std::string url(const std::string& options) const { return "unix:" + proxy_.at().path + options; }
    void lead_to(const private_server& server) { proxy_.move_to(server.at()); }

private:
    folder place_;
    proxy proxy_;
};

/// A primary and its replica, whose roles an administrator changes.
class plain final : public world {
public:
    plain(dice& /*dice*/, std::string options) : options_{std::move(options)} {
        make_space(primary(), options_);
        require(follow(replica(), primary().tcp()), "the replica gets no data");
    }
    [[nodiscard]] std::string url() const override { return first_.url(options_); }
    [[nodiscard]] std::string isolated_url() const override { return second_.url(options_); }

    times fail_over(dice& dice, const std::function<void()>& /*frozen*/) override {
        times at{history::now(), {}};
        const std::string port = std::to_string(replica().tcp().port);
        if (dice.percent(50)) {
            const auto begun = [&] { return primary().ask({"FAILOVER", "TO", "127.0.0.1", port}).text == "OK"; };
            require(eventually(begun), "FAILOVER is refused");
            require(eventually([&] { return is_primary(replica()); }), "FAILOVER does not end");
        } else {
            static_cast<void>(primary().ask({"CLIENT", "PAUSE", "5000", "WRITE"}));
            require(catches_up(primary(), replica()), "the replica does not catch up");
            redis_tests::promote(replica());
            redis_tests::begin_to_follow(primary(), replica().tcp());
            static_cast<void>(primary().ask({"CLIENT", "UNPAUSE"}));
        }
        at.promoted = history::now();
        primary_ = 1 - primary_;
        first_.lead_to(primary());
        pass_time(dice, 0, 100);
        second_.lead_to(primary());
        return at;
    }
    void heal() override {
        require(eventually([&] { return has_link(replica()); }), "the old primary does not become a replica");
    }
    void settle() override {}

private:
    [[nodiscard]] private_server& primary() { return servers_[primary_]; }
    [[nodiscard]] private_server& replica() { return servers_[1 - primary_]; }

    const std::string options_;
    std::array<private_server, 2> servers_{private_server{redis_tests::replicating()},
                                           private_server{redis_tests::replicating()}};
    std::size_t primary_ = 0;
    site first_{servers_[0]};
    site second_{servers_[0]};
};

/// Three servers, each behind a proxy whose address the other servers, the Sentinels and their clients use.
class behind_sentinels final : public world {
public:
    behind_sentinels(dice& /*dice*/, std::string options) : options_{std::move(options)} {
        for (std::size_t i = 0; i < count; ++i) {
            public_[i] = std::make_unique<proxy>(endpoint{std::uint16_t{1}}, endpoint{std::uint16_t{0}});
            auto settings = redis_tests::replicating();
            settings.settings.insert(settings.settings.end(),
                                     {"--replica-announce-ip", "127.0.0.1", "--replica-announce-port", port(i),
                                      "--min-replicas-max-lag", "1", "--repl-ping-replica-period", "1"});
            servers_[i] = std::make_unique<private_server>(std::move(settings));
            public_[i]->move_to(servers_[i]->tcp());
        }
        make_space(*servers_[0], options_);
        for (std::size_t i = 1; i < count; ++i)
            require(follow(*servers_[i], public_[0]->at()), "a replica gets no data");
        for (const auto& each : servers_) static_cast<void>(each->ask({"CONFIG", "SET", "min-replicas-to-write", "1"}));
        for (std::size_t i = 0; i < count; ++i)
            sentinels_[i] = std::make_unique<redis_tests::private_sentinel>(public_[0]->at());
        require(eventually([&] { return know_all(); }), "the Sentinels do not find each other and the replicas");
        isolated_ = std::make_unique<site>(*servers_[0]);
    }
    [[nodiscard]] std::string url() const override {
        std::string hosts;
        for (const auto& each : sentinels_)
            hosts += (hosts.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(each->at().port));
        return "redis+sentinel://" + hosts + "/mymaster/0" + options_;
    }
    [[nodiscard]] std::string isolated_url() const override { return isolated_->url(options_); }

    times fail_over(dice& dice, const std::function<void()>& frozen) override {
        settle();
        times at{history::now(), {}};
        public_[primary_]->set(silent);
        former_ = primary_;
        frozen();
        // Sentinels that could not agree try again after 6 s.
        require(eventually([&] { return finds_promoted(); }, 120s), "the Sentinels promote no replica");
        at.promoted = history::now();
        pass_time(dice, 0, 2'500);
        isolated_->lead_to(*servers_[primary_]);
        return at;
    }
    void heal() override {
        public_[former_]->cut({});
        redis_tests::begin_to_follow(*servers_[former_], public_[primary_]->at());
        settle();
    }

    /// On a busy machine the Sentinels may have failed over by themselves.
    void settle() override {
        const auto finds_one = [&] {
            std::size_t followers = 0;
            for (std::size_t i = 0; i < count; ++i)
                if (has_link(*servers_[i]))
                    ++followers;
                else
                    primary_ = i;
            return followers == count - 1 && is_primary(*servers_[primary_]) && know_all();
        };
        if (!eventually(finds_one, 120s)) throw std::runtime_error{"the Sentinels know: " + knowledge()};
        isolated_->lead_to(*servers_[primary_]);
    }

private:
    static constexpr std::size_t count = 3;

    [[nodiscard]] std::string port(std::size_t index) const { return std::to_string(public_[index]->at().port); }
    [[nodiscard]] bool finds_promoted() {
        for (std::size_t i = 0; i < count; ++i)
            if (i != former_ && is_primary(*servers_[i])) {
                primary_ = i;
                return true;
            }
        return false;
    }
    /// The Sentinels name the primary, and know each other and two replicas that they could promote.
    [[nodiscard]] bool know_all() const {
        for (const auto& each : sentinels_) {
            const auto at = each->ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"});
            if (!at || at->items.size() != 2 || at->items[1].text != port(primary_)) return false;
            const auto quorum = each->ask({"SENTINEL", "CKQUORUM", "mymaster"});
            if (!quorum || quorum->text.find("OK 3 usable") == std::string::npos) return false;
            const auto replicas = each->ask({"SENTINEL", "REPLICAS", "mymaster"});
            if (!replicas || replicas->items.size() != count - 1) return false;
            for (const resp::value& replica : replicas->items)
                for (std::size_t i = 0; i + 1 < replica.items.size(); i += 2)
                    if (replica.items[i].text == "flags" && replica.items[i + 1].text != "slave") return false;
        }
        return true;
    }

    [[nodiscard]] std::string knowledge() const {
        std::string all = "primary " + port(primary_);
        for (const auto& each : sentinels_) {
            if (const auto info = each->ask({"INFO", "sentinel"})) all += "; " + info->text;
            if (const auto replicas = each->ask({"SENTINEL", "REPLICAS", "mymaster"}))
                for (const resp::value& replica : replicas->items)
                    for (std::size_t i = 0; i + 1 < replica.items.size(); i += 2)
                        if (replica.items[i].text == "flags" || replica.items[i].text == "name")
                            all += " " + replica.items[i + 1].text;
        }
        std::ranges::replace(all, '\r', ' ');
        std::ranges::replace(all, '\n', ' ');
        return all;
    }

    const std::string options_;
    std::array<std::unique_ptr<proxy>, count> public_;
    std::array<std::unique_ptr<private_server>, count> servers_;
    std::array<std::unique_ptr<redis_tests::private_sentinel>, count> sentinels_;
    std::unique_ptr<site> isolated_;
    std::size_t primary_ = 0;
    std::size_t former_ = 0;
};

/// Six nodes, of which the primary of the space has two replicas. Each of these three is behind a proxy whose address
/// the cluster announces; the nodes' bus is not.
class in_cluster final : public world {
public:
    in_cluster(dice& /*dice*/, std::string options, bool planned) : options_{std::move(options)}, planned_{planned} {
        const std::size_t first = cluster_.primary_of("default");
        group_[0] = &cluster_.node(first);
        group_[1] = &cluster_.node(first + 3);
        group_[2] = &cluster_.node((first + 1) % 3 + 3);
        const std::string id = group_[0]->ask({"CLUSTER", "MYID"}).text;
        require(group_[2]->ask({"CLUSTER", "REPLICATE", id}).text == "OK", "a node does not change its primary");
        make_space(*group_[0], options_);
        for (std::size_t i = 0; i < count; ++i) {
            public_[i] = std::make_unique<proxy>(group_[i]->tcp(), endpoint{std::uint16_t{0}});
            configure(i);
        }
        settle();
    }
    [[nodiscard]] std::string url() const override {
        std::string hosts;
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            hosts += (i == 0 ? "" : ",") + ("127.0.0.1:" + std::to_string(cluster_.node(i).tcp().port));
        return "redis+cluster://" + hosts + "/0" + options_;
    }
    [[nodiscard]] std::string isolated_url() const override {
        return "redis+cluster://127.0.0.1:" + std::to_string(isolated_.at().port) + "/0" + options_;
    }

    times fail_over(dice& dice, const std::function<void()>& frozen) override {
        settle();
        times at{history::now(), {}};
        former_ = primary_;
        if (planned_) {
            const std::size_t next = (primary_ + dice.between(1, 2)) % count;
            const auto begun = [&] { return group_[next]->ask({"CLUSTER", "FAILOVER"}).text == "OK"; };
            require(eventually(begun), "CLUSTER FAILOVER is refused");
        } else {
            public_[primary_]->set(silent);
            frozen();
            lose_the_primary(dice);
        }
        // Replicas do not stand for election when their data are older than 6 s: an administrator helps.
        if (!eventually([&] { return finds_promoted(); }, 10s)) {
            const std::size_t next = (former_ + 1) % count;
            static_cast<void>(group_[next]->ask({"CLUSTER", "FAILOVER", "TAKEOVER"}));
            require(eventually([&] { return finds_promoted(); }), "the cluster promotes no replica");
        }
        at.promoted = history::now();
        if (planned_) isolated_.move_to(group_[primary_]->tcp());
        if (planned_) return at;
        pass_time(dice, 0, 1'000);
        if (stands_still_) group_[former_]->go_on();
        pass_time(dice, 0, 1'000);
        if (!pauses(options_)) pass_time(dice, 3'000, 3'000);  // so that the new primary has granted
        isolated_.move_to(group_[primary_]->tcp());
        return at;
    }
    void heal() override {
        if (was_killed_) {
            group_[former_]->start();
            configure(former_);
        }
        was_killed_ = stands_still_ = false;
        public_[former_]->cut({});
        settle();
    }
    /// On a busy machine the cluster may have failed over by itself.
    void settle() override {
        if (!eventually([&] { return follow_one(); }, 60s)) throw std::runtime_error{"the nodes: " + states()};
        isolated_.move_to(group_[primary_]->tcp());
    }

private:
    static constexpr std::size_t count = 3;

    void configure(std::size_t index) {
        static_cast<void>(group_[index]->ask({"CONFIG", "SET", "cluster-announce-port", port(index)}));
        if (planned_) return;
        static_cast<void>(group_[index]->ask({"CONFIG", "SET", "min-replicas-max-lag", "1"}));
        static_cast<void>(group_[index]->ask({"CONFIG", "SET", "min-replicas-to-write", "1"}));
    }
    /// The primary dies; or stands still until another one is promoted; or a replica takes its place although it lives.
    void lose_the_primary(dice& dice) {
        pass_time(dice, 100, 900);
        const std::size_t way = dice.below(3);
        if (way == 0) {
            group_[primary_]->kill();
            was_killed_ = true;
        } else if (way == 1) {
            group_[primary_]->stop();
            stands_still_ = true;
        } else {
            const std::size_t next = (primary_ + dice.between(1, 2)) % count;
            require(group_[next]->ask({"CLUSTER", "FAILOVER", "TAKEOVER"}).text == "OK", "TAKEOVER is refused");
        }
    }
    [[nodiscard]] std::string port(std::size_t index) const { return std::to_string(public_[index]->at().port); }
    [[nodiscard]] bool finds_promoted() {
        for (std::size_t i = 0; i < count; ++i)
            if (i != former_ && is_primary(*group_[i])) {
                primary_ = i;
                return true;
            }
        return false;
    }
    [[nodiscard]] bool follow_one() {
        std::size_t followers = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (is_primary(*group_[i])) primary_ = i;
        for (const private_server* each : group_)
            if (has_link(*each) && replication(*each, "master_port") == port(primary_)) ++followers;
        return followers == count - 1;
    }
    [[nodiscard]] std::string states() const {
        std::string all;
        for (std::size_t i = 0; i < count; ++i)
            all += " " + port(i) + " " + replication(*group_[i], "role") + " of " +
                   replication(*group_[i], "master_port") + " link " + replication(*group_[i], "master_link_status");
        return all;
    }

    const std::string options_;
    const bool planned_;
    // Otherwise a replica would leave for the primary that has none.
    redis_tests::private_cluster cluster_{{.settings = {"--cluster-allow-replica-migration", "no"}}};
    std::array<private_server*, count> group_{};
    std::array<std::unique_ptr<proxy>, count> public_;
    proxy isolated_{endpoint{std::uint16_t{1}}, endpoint{std::uint16_t{0}}};  // past the public address
    std::size_t primary_ = 0;
    std::size_t former_ = 0;
    bool was_killed_ = false;
    bool stands_still_ = false;
};

const std::array<kind, 4> kinds{{
    {"sentinel", false, 1s, 3s, 500ms,
     [](dice& dice, const std::string& options) -> std::unique_ptr<world> {
         return std::make_unique<behind_sentinels>(dice, options);
     }},
    {"cluster", false, 1s, 3s, 500ms,
     [](dice& dice, const std::string& options) -> std::unique_ptr<world> {
         return std::make_unique<in_cluster>(dice, options, false);
     }},
    {"planned", true, 4s, 500ms, 2s,
     [](dice& dice, const std::string& options) -> std::unique_ptr<world> {
         return std::make_unique<plain>(dice, options);
     }},
    {"cluster-planned", true, 4s, 500ms, 2s,
     [](dice& dice, const std::string& options) -> std::unique_ptr<world> {
         return std::make_unique<in_cluster>(dice, options, true);
     }},
}};

}  // namespace

const kind* find_kind(const std::string& name) {
    for (const kind& each : kinds)
        if (each.name == name) return &each;
    return nullptr;
}

}  // namespace baton::failover
