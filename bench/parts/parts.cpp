#include "bench/parts/parts.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "bench/actors/interrupt.hpp"
#include "bench/actors/processors.hpp"
#include "bench/scenarios/scenarios.hpp"
#include "bench/table.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"

namespace baton::bench {

const std::vector<part>& all_parts() {
    static const std::vector<part> parts{{"engine", measure_engine},
                                         {"memory", measure_memory},
                                         {"local", measure_local},
                                         {"redis-calls", measure_redis_calls},
                                         {"redis-memory", measure_redis_memory},
                                         {"redis-short-paths", measure_redis_short_paths},
                                         {"redis-client", measure_redis_client},
                                         {"redis-blocking", measure_redis_blocking}};
    return parts;
}

int play_parts(const std::vector<std::string>& names, const part_options& options) {
    prepare_for_interrupts();
    bool missed = false;
    for (const part& part : all_parts()) {
        if (!names.empty() && std::ranges::find(names, part.name) == names.end()) continue;
        play_on({all_processors().back()});  // all processes of a part, so that the times are work and not sleep
        report report{part.name};
        try {
            part.measure(report, options);
            if (options.scenes.empty()) report.end();
        } catch (const std::exception& error) {
            report.fail(error.what());
        }
        missed = missed || report.missed();
    }
    return cli::number(missed ? cli::exit_code::no : cli::exit_code::ok);
}

void show_cycle(report& report, stage& stage) {
    class reporter final : public audience {
    public:
        explicit reporter(bench::report& report) : report_{report} {}
        void begin(const std::string&) override {}
        void show(const result& result) override { report_.show(result); }

    private:
        bench::report& report_;
    } reporter{report};
    cycle(stage, plan{}, reporter);
}

std::unique_ptr<stage> private_server(const std::string& program) {
    auto made = private_redis_stage(program);
    if (!made)
        throw cli::failure{cli::exit_code::unreachable,
                           "no redis-server or valkey-server is installed here; Debian's "
                           "redis-tools contains one"};
    return made;
}

void print_targets() {
    for (const target& each : all_targets()) {
        const std::string what = std::string{each.what} + (each.floor.empty() ? "" : " / " + std::string{each.floor});
        const std::string most = each.most ? short_number(*each.most) + " " + std::string{each.unit} : "-";
        std::printf("%-18s %-70s %s\n", std::string{each.part}.c_str(), what.c_str(), most.c_str());
    }
}

}  // namespace baton::bench
