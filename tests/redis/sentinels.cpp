#include "sentinels.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <utility>

#include "../contents.hpp"
#include "../eventually.hpp"
#include "../launch.hpp"
#include "replication.hpp"

namespace baton::redis_tests {
namespace {

std::uint16_t free_port() {
    endpoint any{std::uint16_t{0}};
    close(listen_at(any));
    return any.port;
}

/// A field of a reply that is a list of names and values.
std::string field(const resp::value& list, const std::string& name) {
    for (std::size_t i = 0; i + 1 < list.items.size(); i += 2)
        if (list.items[i].text == name) return list.items[i + 1].text;
    return {};
}

}  // namespace

private_sentinel::private_sentinel(const endpoint& primary, const std::vector<std::string>& settings)
    : port_{free_port()} {
    const std::string file = place_.path("sentinel.conf");
    std::ofstream configuration{file};
    configuration << "port " << port_ << "\nbind 127.0.0.1\ndir " << place_.path() << "\n"
                  << "sentinel monitor mymaster 127.0.0.1 " << primary.port << " 2\n"
                  << "sentinel down-after-milliseconds mymaster 500\n"
                  << "sentinel failover-timeout mymaster 3000\n";
    for (const std::string& line : settings) configuration << line << "\n";
    configuration.close();
    const server_program program = find_server().value();
    const std::string log = place_.path("log");
    process_ = launch(
        {program.name, file, "--sentinel"},
        [&log] {
            const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
            dup2(out, STDOUT_FILENO);
            dup2(out, STDERR_FILENO);
        },
        program.path);
    if (!eventually([this] { return answers(at()); }))
        throw std::runtime_error{"the Sentinel does not come up: " + contents(log)};
}

std::optional<resp::value> private_sentinel::ask(const std::vector<std::string>& words) const {
    if (!answers(at())) return {};
    return resp_client{at()}.call(words);
}

void private_sentinel::kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    waitpid(std::exchange(process_, 0), nullptr, 0);
}

void private_sentinel::stop() const { ::kill(process_, SIGSTOP); }

watched_servers::watched_servers(std::size_t sentinels) {
    for (int i = 0; i < 2; ++i) servers_.push_back(std::make_unique<private_server>(replicating()));
    if (!follow(replica(), primary().tcp())) throw std::runtime_error{"the replica does not connect"};
    for (std::size_t i = 0; i < sentinels; ++i)
        sentinels_.push_back(std::make_unique<private_sentinel>(primary().tcp()));
    const auto knows_all = [&](const std::unique_ptr<private_sentinel>& each) {
        const auto seen = each->ask({"SENTINEL", "MASTER", "mymaster"});
        return seen && field(*seen, "num-slaves") == "1" &&
               field(*seen, "num-other-sentinels") == std::to_string(sentinels - 1);
    };
    for (const auto& each : sentinels_)
        if (!eventually([&] { return knows_all(each); }))
            throw std::runtime_error{"the Sentinels do not find each other and the replica"};
}

std::string watched_servers::url(const std::string& options, const std::string& hosts) const {
    std::string all = hosts;
    for (const auto& each : sentinels_)
        all += (all.empty() ? "" : ",") + ("127.0.0.1:" + std::to_string(each->at().port));
    return "redis+sentinel://" + all + "/mymaster/0" + options;
}

void watched_servers::fail_over() {
    // A Sentinel refuses while it still counts the replica as not good, for instance because INFO is due.
    const auto begun = [&] {
        const auto reply = sentinels_[0]->ask({"SENTINEL", "FAILOVER", "mymaster"});
        return reply && reply->text == "OK";
    };
    if (!eventually(begun) || !is_promoted()) throw std::runtime_error{"the Sentinels do not fail over"};
}

bool watched_servers::is_promoted() {
    const auto is_primary = [](const private_server& server) {
        try {
            return info(server, "replication", "role") == "master";
        } catch (const std::runtime_error&) {
            return false;  // a Sentinel closes all connections of a server that it promotes
        }
    };
    if (!eventually([&] { return is_primary(replica()); })) return false;
    primary_ = 1 - primary_;
    return true;
}

}  // namespace baton::redis_tests
