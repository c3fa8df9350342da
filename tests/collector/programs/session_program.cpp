// A program under observation. Arguments: what to do, in order.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" {
int cuInit(unsigned);
void fake_launch(const char* name);
}

namespace {

void launch(long count) {
    for (long i = 0; i < count; ++i) fake_launch("_Z6kernelv");
}

void use_nvtx() {
    nvtxMarkA("attnscope.workload {\"batch\":8}");
    nvtxRangeId_t range = nvtxRangeStartA("attnscope.implementation/naive");
    launch(1);
    std::thread other([] { launch(1); });  // a thread of its own, as autograd's
    other.join();
    nvtxRangePushA("outer");
    nvtxDomainHandle_t domain = nvtxDomainCreateA("lib\"rary");
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringW(domain, L"wide \u20ac");
    nvtxDomainRangePushEx(domain, &event);
    launch(1);       // in "wide"
    nvtxRangePop();  // "outer" ends before the range of the other domain
    launch(1);       // still in "wide"
    nvtxDomainRangePop(domain);
    nvtxRangePop();  // one too many
    nvtxRangeEnd(range);
    nvtxRangeEnd(range);  // twice
    launch(1);            // in none
    nvtxMarkA("bad \xFF bytes");
    nvtxRangePushA("never popped");
    launch(1);
}

}  // namespace

int main(int argc, char** argv) {
    std::printf("output\n");
    std::fflush(stdout);
    int exit_code = 0;
    for (int i = 1; i < argc; ++i) {
        const std::string what = argv[i];
        const auto number = [&] { return std::atol(what.c_str() + what.find('=') + 1); };
        if (what == "init") cuInit(0);
        if (what.compare(0, 7, "launch=") == 0) launch(number());
        if (what.compare(0, 8, "threads=") == 0) {
            std::vector<std::thread> threads;
            for (int t = 0; t < 8; ++t) threads.emplace_back([count = number()] { launch(count); });
            for (std::thread& t : threads) t.join();
        }
        if (what == "nvtx") use_nvtx();
        if (what == "push") nvtxRangePushA("before cuInit");
        if (what.compare(0, 6, "sleep=") == 0) usleep(static_cast<useconds_t>(number() * 1000));
        if (what == "closefds")
            for (int fd = 3; fd < 256; ++fd) close(fd);
        if (what == "fork") {
            const pid_t child = fork();
            if (child == 0) {
                nvtxRangePushA("in the child");
                nvtxRangePop();
                std::exit(0);
            }
            int status = 1;
            waitpid(child, &status, 0);
            if (status != 0) exit_code = 99;
        }
        if (what == "kill") raise(SIGKILL);
        if (what == "abort") std::abort();
        if (what == "memory") {
            // What the collector adds stays below 64 MB: the peak of this program's resident pages.
            FILE* file = std::fopen("/proc/self/status", "r");
            char line[256];
            while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
                if (std::strncmp(line, "VmHWM:", 6) == 0) std::fputs(line, stdout);
        }
        if (what.compare(0, 5, "exit=") == 0) exit_code = static_cast<int>(number());
    }
    return exit_code;
}
