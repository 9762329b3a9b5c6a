/// A user's function that is called once, with the result of an operation. Unlike std::function it may hold a move-only
/// function.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace baton {
inline namespace v1 {

template <typename... Results> class completion_callback {
public:
    template <typename Function>
        requires(!std::same_as<std::decay_t<Function>, completion_callback> &&
                 std::invocable<std::decay_t<Function>, Results...>)
    completion_callback(Function&& function)  // NOLINT(google-explicit-constructor): it stands for the function
        : call_{std::make_unique<holder<std::decay_t<Function>>>(std::forward<Function>(function))} {}

    /// May be called once.
    void operator()(Results... results) { std::exchange(call_, nullptr)->call(std::forward<Results>(results)...); }

private:
    struct callable {
        virtual ~callable() = default;
        virtual void call(Results... results) = 0;
    };
    template <typename Function> struct holder final : callable {
        template <typename Given> explicit holder(Given&& given) : function(std::forward<Given>(given)) {}
        void call(Results... results) override { std::move(function)(std::forward<Results>(results)...); }

        Function function;
    };

    std::unique_ptr<callable> call_;
};

}  // namespace v1
}  // namespace baton
