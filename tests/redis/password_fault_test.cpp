// The password of the server changes while clients run. The server keeps existing connections; a client needs the new
// password for its next connection, and reads it from its password file.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "reconnect_fault_test.hpp"

namespace baton::redis_tests {
namespace {

class RedisPasswordFault : public RedisFault {
protected:
    void SetUp() override {
        RedisFault::SetUp();
        if (IsSkipped()) return;
        server_.emplace();
        make_space(*server_);
        admin_.emplace(server_->at());
        write_file("one");
        set_on_server("one");
        setenv("BATON_REDIS_PASSWORD_FILE", file().c_str(), 1);
    }
    void TearDown() override { unsetenv("BATON_REDIS_PASSWORD_FILE"); }

    [[nodiscard]] std::string file() const { return place_.path("password"); }
    /// Replaces the file atomically, so that no client reads half of it.
    void write_file(const std::string& password) const {
        std::ofstream{file() + ".new"} << password << "\n";
        std::filesystem::rename(file() + ".new", file());
    }
    void set_on_server(const std::string& password) {
        ASSERT_EQ(admin_->ask({"CONFIG", "SET", "requirepass", password}), "OK");
    }
    /// Closes all connections of clients.
    void end_connections() { admin_->ask({"CLIENT", "KILL", "TYPE", "pubsub"}); }

    [[nodiscard]] client join(std::shared_ptr<observer> ears = nullptr) const {
        return client{space_at(server_->at()), {.ttl = 1s, .label = {}, .observer = std::move(ears)}};
    }
    /// Waits for `name` without a time limit; returns when the request is queued.
    std::future<thrown> block(client& waiter, const std::string& name) {
        auto blocked = std::async(std::launch::async, [waiter, name]() mutable {
            return what_is_thrown([&] { waiter.acquire(exclusive(name)).release(); });
        });
        EXPECT_TRUE(eventually([&] {
            const snapshot seen = waiter.inspect({inspect_filter::match::exact, name});
            return seen.resources.size() == 1 && seen.resources[0].queue.size() == 1;
        }));
        return blocked;
    }

    folder place_;
    std::optional<private_server> server_;
    std::optional<administrator> admin_;
};

TEST_F(RedisPasswordFault, TheFileIsReadAgainForEveryConnection) {
    client holder = join();
    lease held = holder.acquire(exclusive("x"));
    client waiter = join();
    auto waits = block(waiter, "x");
    for (const char* password : {"two", "three"}) {
        set_on_server(password);
        write_file(password);
        end_connections();
        const auto since = steady_clock::now();
        EXPECT_TRUE(eventually([&] { return held.valid_until() > since + 900ms; })) << "it is renewed";
    }
    EXPECT_EQ(held.lost_reason(), loss::none);
    held.release();
    EXPECT_EQ(waits.wait_for(5s), std::future_status::ready) << "it has kept its queue position";
    waiter.close(1s);
    EXPECT_FALSE(waits.get().code);
}

TEST_F(RedisPasswordFault, AWrongPasswordFailsAllWaiters) {
    const auto ears = std::make_shared<listening>();
    client holder = join();
    const lease held = holder.acquire(exclusive("x"));
    client waiter = join(ears);
    auto waits = block(waiter, "x");
    set_on_server("two");
    end_connections();
    auto newcomer = std::async(std::launch::async, [waiter]() mutable {
        return what_is_thrown([&] { waiter.acquire(exclusive("y")).release(); });
    });
    EXPECT_TRUE(ears->hears("WRONGPASS")) << ears->all();
    EXPECT_EQ(waits.wait_for(2s), std::future_status::ready);
    EXPECT_EQ(newcomer.wait_for(2s), std::future_status::ready);
    const thrown hasty = what_is_thrown([&] { static_cast<void>(waiter.try_acquire(exclusive("y"))); });
    EXPECT_LE(admin_->connections_in_two_seconds(), 40) << "of two clients";

    write_file("two");
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        return waiter.acquire(exclusive("y"), {.wait = 5s}, error).valid();
    })) << "it connects again with the new file";
    waiter.close(1s);
    for (const thrown& told : {waits.get(), newcomer.get(), hasty}) {
        EXPECT_EQ(told.code, errc::not_permitted) << told.text;
        EXPECT_NE(told.text.find("WRONGPASS"), std::string::npos) << told.text;
    }
}

TEST_F(RedisPasswordFault, AClientThatStartsWithAWrongOneConnectsWhenTheFileIsCorrected) {
    write_file("wrong");
    client early = join();
    const thrown told =
        client_tests::bounded(early, [&] { return what_is_thrown([&] { early.acquire(exclusive("x")).release(); }); });
    EXPECT_EQ(told.code, errc::not_permitted) << told.text;
    EXPECT_NE(told.text.find("WRONGPASS"), std::string::npos) << told.text;
    write_file("one");
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        return early.acquire(exclusive("x"), {.wait = 5s}, error).valid();
    }));
}

TEST_F(RedisPasswordFault, AMissingFileIsReported) {
    const auto ears = std::make_shared<listening>();
    client known = join(ears);
    const lease held = known.acquire(exclusive("x"));
    std::filesystem::remove(file());
    end_connections();
    EXPECT_TRUE(ears->hears("which BATON_REDIS_PASSWORD_FILE names: No such file or directory")) << ears->all();
    const thrown told = what_is_thrown([&] { static_cast<void>(known.try_acquire(exclusive("y"))); });
    EXPECT_EQ(told.code, errc::not_permitted) << told.text;
    write_file("one");
    EXPECT_TRUE(eventually([&] {
        std::error_code error;
        return known.acquire(exclusive("y"), {.wait = 5s}, error).valid();
    }));
}

}  // namespace
}  // namespace baton::redis_tests
