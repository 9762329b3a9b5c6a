#include "bench/actors/stage.hpp"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "bench/actors/child.hpp"
#include "bench/actors/interrupt.hpp"
#include "bench/actors/server_accounts.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "find_program.hpp"
#include "stores/redis/address.hpp"
#ifdef BATON_BENCH_TLS
#include "../tests/redis/certificates.hpp"
#endif

namespace baton::bench {
namespace {

using cli::exit_code;
using cli::failure;
using cli::program_in_path;

/// A temporary folder, removed in the destructor.
class folder {
public:
    folder() {
        path_ = (std::filesystem::temp_directory_path() / "baton-bench.XXXXXX").string();
        if (mkdtemp(path_.data()) == nullptr)
            throw failure{exit_code::internal, "cannot create a temporary folder; TMPDIR selects where"};
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { remove(); }
    [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }

private:
    void remove() const {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::string path_;
    on_interrupt gone_{[this] { remove(); }};
};

template <typename Condition> void wait_until(Condition condition, const char* what) {
    for (int tries = 0; tries < 10'000; ++tries) {
        if (condition()) return;
        usleep(1'000);
    }
    throw failure{exit_code::internal, std::string{what} + " does not start"};
}

class in_memory final : public stage {
public:
    [[nodiscard]] std::string name() const override { return "memory"; }
    [[nodiscard]] std::string url() const override { return "memory:bench"; }
    [[nodiscard]] bool shared() const override { return false; }
    [[nodiscard]] std::string described() const override { return "memory: the engine in this process"; }
};

class on_agent final : public stage {
public:
    on_agent() {
        wait_until([this] { return std::filesystem::exists(folder_.path("agent")); }, "the agent");
    }
    [[nodiscard]] std::string name() const override { return "local"; }
    [[nodiscard]] std::string url() const override { return "local:" + folder_.path("agent"); }
    [[nodiscard]] std::string described() const override { return "local: an agent of its own"; }
    [[nodiscard]] pid_t server() const override { return agent_.id(); }

private:
    folder folder_;
    child agent_{{baton_program(), "agent", "--foreground", "--max-ttl-ms", "3600000", "--address",
                  "local:" + folder_.path("agent")}};
};

server_counts counts_of(plain_client& client) {
    const std::string info = client.call({"INFO", "everything"}).text;
    server_counts counts;
    counts.cpu_s = number_in(info, "used_cpu_sys") + number_in(info, "used_cpu_user");
    counts.memory_bytes = number_in(info, "used_memory");
    counts.connections = number_in(info, "connected_clients");
    counts.commands = number_in(info, "total_commands_processed");
    const call_totals functions = totals_of(info, "fcall");
    counts.script_calls = functions.calls;
    counts.script_us = functions.microseconds;
    return counts;
}

class on_redis : public stage {
public:
    [[nodiscard]] std::string name() const override { return "redis"; }
    [[nodiscard]] std::optional<server_counts> counts() override { return counts_of(admin()); }
    [[nodiscard]] std::string described() const override { return described_; }

protected:
    void connect_admin(const std::string& url) {
        admin_ = std::make_unique<plain_client>(url);
        const std::string info = admin_->call({"INFO", "server"}).text;
        const bool valkey = info.find("valkey_version:") != std::string::npos;
        const std::string field = valkey ? "valkey_version:" : "redis_version:";
        const std::size_t at = info.find(field);
        const std::string version =
            at == std::string::npos ? "" : info.substr(at + field.size(), info.find('\r', at) - at - field.size());
        described_ = (valkey ? "Valkey " : "Redis ") + version;
    }
    [[nodiscard]] plain_client& admin() const { return *admin_; }

    std::string described_;

private:
    std::unique_ptr<plain_client> admin_;
};

/// The program and the argv[0] that makes it a server: Debian's redis-tools contains the server under another name.
std::optional<std::pair<std::string, std::string>> server_program(std::string wanted) {
    const char* const named = std::getenv("BATON_REDIS_SERVER");
    if (wanted.empty() && named != nullptr) wanted = named;
    if (!wanted.empty()) return std::pair{wanted, std::string{"redis-server"}};
    for (const auto& [program, name] : {std::pair{"redis-server", "redis-server"},
                                        {"valkey-server", "valkey-server"},
                                        {"redis-check-rdb", "redis-server"}})
        if (std::string path = program_in_path(program); !path.empty()) return std::pair{std::move(path), name};
    return {};
}

#ifdef BATON_BENCH_TLS
std::vector<std::string> tls_settings(const folder& folder, int port) {
    const redis_tests::certificate_authority authority{folder.path("."), "authority"};
    const redis_tests::certificate_files own = authority.sign("server", {.addresses = {"127.0.0.1"}});
    return {"--tls-port",         std::to_string(port), "--tls-cert-file",    own.cert, "--tls-key-file", own.key,
            "--tls-ca-cert-file", authority.cert(),     "--tls-auth-clients", "no"};
}
std::optional<std::string> trusted(const folder& folder) { return "tls_ca=" + folder.path("authority.crt"); }
#else
std::vector<std::string> tls_settings(const folder& /*folder*/, int /*port*/) { return {}; }
std::optional<std::string> trusted(const folder& /*folder*/) { return {}; }
#endif

class own_redis final : public on_redis {
public:
    explicit own_redis(const std::pair<std::string, std::string>& program)
        : port_{free_port()}, tls_port_{free_port()}, server_{arguments(program.second), program.first} {
        wait_until(
            [this] {
                try {
                    connect_admin(*redis_url());
                    return true;
                } catch (const failure&) {
                    return false;
                }
            },
            "the Redis server");
        described_ += ", a private server";
    }
    [[nodiscard]] std::string url() const override { return *redis_url() + terms; }
    [[nodiscard]] std::optional<std::string> redis_url() const override {
        return "redis://127.0.0.1:" + std::to_string(port_) + "/0";
    }
    [[nodiscard]] std::optional<std::string> tls_url() const override {
        const auto option = trusted(folder_);
        if (!option) return {};
        return "rediss://127.0.0.1:" + std::to_string(tls_port_) + "/0" + terms + "&" + *option;
    }
    [[nodiscard]] pid_t server() const override { return server_.id(); }

private:
    static constexpr const char* terms = "?pause=off&max_ttl=3600s";

    [[nodiscard]] std::vector<std::string> arguments(const std::string& name) const {
        std::vector<std::string> all{name,
                                     "--port",
                                     std::to_string(port_),
                                     "--bind",
                                     "127.0.0.1",
                                     "--save",
                                     "",
                                     "--dir",
                                     folder_.path("."),
                                     "--logfile",
                                     folder_.path("log"),
                                     "--unixsocket",
                                     folder_.path("socket")};
        const std::vector<std::string> tls = tls_settings(folder_, tls_port_);
        all.insert(all.end(), tls.begin(), tls.end());
        return all;
    }

    folder folder_;
    int port_;
    int tls_port_;
    child server_;
};

/// The user's server: the keys of the benchmark are in a space with a random name, and are removed.
class their_redis final : public on_redis {
public:
    their_redis(std::string url, std::string& warning) : url_{std::move(url)} {
        const detail::redis_address address = detail::parse_redis_address(url_);
        if (!address.dialect.empty())
            throw failure{exit_code::usage, "bench measures the native protocol; leave dialect= out of the address"};
        if (!address.cluster.empty() || !address.sentinel.hosts.empty())
            throw failure{exit_code::usage, "bench measures one server: give its address, as in redis://HOST:PORT"};
        if (address.space != "default")
            throw failure{exit_code::usage, "bench creates a private space; leave space= out of the address"};
        connect_admin(url_);
        const std::int64_t keys = admin().call({"DBSIZE"}).number;
        const double clients = number_in(admin().call({"INFO", "clients"}).text, "connected_clients") - 1;
        if (keys > 0 || clients > 0)
            warning = "the server is in use: " + std::to_string(keys) + " keys, " +
                      std::to_string(static_cast<long>(clients)) +
                      " other connections. The benchmark slows them down, and their load affects the figures.";
        described_ += " at " + address.shown();
    }
    ~their_redis() override { clean_space(url_, space_); }
    /// The pause after a restart is disabled: no client has held a name in this new space.
    [[nodiscard]] std::string url() const override {
        return url_ + (url_.find('?') == std::string::npos ? "?" : "&") + "space=" + space_ +
               (url_.find("pause=") == std::string::npos ? "&pause=off" : "");
    }
    [[nodiscard]] std::optional<std::string> redis_url() const override { return url_; }
    [[nodiscard]] bool long_sessions() const override { return false; }

private:
    /// The threads of this process would create the space again, so the process executes itself with the verb `clean`.
    void become_cleaner() const {
        sigset_t none;
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &none, nullptr);
        std::vector<std::string> words{"baton-bench", "clean", "--url", url_, "--clean-space", space_};
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        execv("/proc/self/exe", arguments.data());
    }

    static std::string draw_space() {
        std::random_device random;
        return "bench-" + std::to_string(random()) + std::to_string(random());
    }

    std::string url_;
    std::string space_ = draw_space();
    on_interrupt cleaned_{[this] { become_cleaner(); }};
};

}  // namespace

std::string baton_program() {
    std::string program = cli::program_beside_or_in_path("baton");
    if (program.empty())
        throw failure{exit_code::unreachable, "the program baton is neither beside baton-bench nor in PATH"};
    return program;
}

std::unique_ptr<stage> memory_stage() { return std::make_unique<in_memory>(); }
std::unique_ptr<stage> local_stage() { return std::make_unique<on_agent>(); }
std::unique_ptr<stage> private_redis_stage(const std::string& server) {
    const auto program = server_program(server);
    return program ? std::make_unique<own_redis>(*program) : nullptr;
}
std::unique_ptr<stage> redis_stage(const std::string& url, std::string& warning) {
    return std::make_unique<their_redis>(url, warning);
}

void clean_space(const std::string& url, const std::string& space) noexcept {
    try {
        plain_client client{url};
        std::string cursor = "0";
        do {
            const resp::value page = client.call({"SCAN", cursor, "MATCH", "baton:{" + space + "}:*", "COUNT", "1000"});
            if (page.items.size() != 2) return;
            cursor = page.items[0].text;
            for (const resp::value& key : page.items[1].items) static_cast<void>(client.call({"UNLINK", key.text}));
        } while (cursor != "0");
    } catch (...) {  // the server is gone, so there are no keys to remove
    }
}

}  // namespace baton::bench
