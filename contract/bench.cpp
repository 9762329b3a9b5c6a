#include "bench.hpp"

namespace baton::contract {
namespace {

std::atomic<std::chrono::milliseconds::rep> timeout_ms{20'000};

}  // namespace

std::chrono::milliseconds timeout() { return std::chrono::milliseconds{timeout_ms}; }

attempt::attempt(client client, const claims& claims, const acquire_options& options, std::function<void()> on_grant) {
    client.async_acquire(claims, options, stop_.get_token(),
                         [shared = shared_, on_grant = std::move(on_grant)](std::error_code error, lease lease) {
                             if (!error && on_grant) on_grant();
                             shared->at = clock::now();
                             shared->error = error;
                             shared->lease = std::move(lease);
                             shared->over = true;
                         });
}

attempt::~attempt() {
    stop_.request_stop();
    // The callback must not outlive what it refers to. After a stop it runs soon, even without a connection.
    if (shared_) {
        EXPECT_TRUE(eventually([this] { return over(); })) << "an acquire did not end when it was cancelled";
    }
}

bool attempt::over() const { return shared_->over; }

bool attempt::granted_within(clock::duration limit) const {
    return eventually([this] { return over(); }, limit) && !shared_->error;
}

std::error_code attempt::error() const {
    EXPECT_TRUE(eventually([this] { return over(); })) << "an acquire did not end";
    return over() ? shared_->error : std::error_code{};
}

attempt actor::queue(const claims& claims, const acquire_options& options, std::function<void()> on_grant) {
    const std::size_t before = counts->queued_count;
    attempt made = start(claims, options, std::move(on_grant));
    EXPECT_TRUE(eventually([&] { return counts->queued_count > before || made.over(); })) << "it was not queued";
    EXPECT_FALSE(made.over()) << "it was to wait, and did not: " << made.error().message();
    return made;
}

bench::bench(const description& store) : store_{store}, space_{store.fresh_space()}, kept_{space_()} {
    timeout_ms = store.timeout.count();
}

std::chrono::milliseconds bench::lost_notice() const { return store_.lost_notice.value_or(store_.ttl / 3); }

actor bench::join(const std::string& label, std::chrono::milliseconds ttl) const {
    auto connection = std::make_shared<faulty_store>(handle());
    auto counts = std::make_shared<event_counts>();
    client_options options;
    if (store_.can.chosen_ttl) options.ttl = ttl;
    options.label = label;
    options.close_wait = 200ms;  // many clients close while their connection is cut
    options.observer = counts;
    return {connection, counts, client{connection, options}};
}

void bench::expect_free(const claims& claims) const {
    actor next = join("checking");
    std::error_code error;
    const lease lease = next.client.acquire(claims, {.wait = 3 * ttl() + late()}, error);
    EXPECT_FALSE(error) << "not free: " << error.message();
}

void hammer(const std::vector<client>& clients, int threads_each, const std::function<void(client&, int)>& round) {
    constexpr int most_rounds = 1'000;
    const auto until = clock::now() + 250ms;
    std::vector<std::jthread> threads;
    int number = 0;
    for (const baton::client& client : clients)
        for (int i = 0; i < threads_each; ++i)
            threads.emplace_back([&round, until, client = baton::client{client}, number = number++]() mutable {
                try {
                    for (int done = 0; done == 0 || (done < most_rounds && clock::now() < until); ++done)
                        round(client, number);
                } catch (const std::exception& broken) {
                    ADD_FAILURE() << broken.what();
                }
            });
}

bool ever_meet(const std::vector<client>& clients, const claims& claims) {
    std::atomic<bool> inside{false};
    std::atomic<bool> met{false};
    hammer(clients, 2, [&](client& client, int) {
        const lease lease = client.acquire(claims, {.wait = timeout()});
        if (inside.exchange(true)) met = true;
        linger();
        inside = false;
    });
    return met;
}

}  // namespace baton::contract
