import Foundation
import Interceptors

// DownloadProcess URL FILE SHA256 TIME [LIMIT]
//
// Downloads a URL across launches, and prints `done` or the code of the error. The kernel kills the process after TIME
// microseconds of processor time, at any point; 0 for never. LIMIT is the number of bytes that a file can hold.

let arguments = CommandLine.arguments
guard arguments.count >= 5, let url = URL(string: arguments[1]), let microseconds = Int(arguments[4]) else { exit(64) }

var resuming = DownloadResuming.acrossLaunches(time: TimeSource(random: RandomSource { 0 }))
// Often, so that nearly every kill leaves something to go on from.
resuming.checkpoint.bytes = 4_096

if arguments.count > 5, let length = UInt(arguments[5]) {
    // From now on, a write past this length fails, in any file.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: .init(length), rlim_max: .init(length))
    #if os(Linux)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
    setrlimit(RLIMIT_FSIZE, &limit)
    #endif
}

if microseconds > 0 {
    var timer = itimerval()
    timer.it_value.tv_sec = .init(microseconds / 1_000_000)
    timer.it_value.tv_usec = .init(microseconds % 1_000_000)
    #if os(Linux)
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    #else
    setitimer(ITIMER_PROF, &timer, nil)
    #endif
}

do {
    let file = URL(filePath: arguments[2])
    try await Client(interceptors: [])
        .download(url, to: file, resuming: resuming, expecting: .sha256(arguments[3]))
    print("done")
} catch let error as any HTTPError {
    print(error.code.rawValue)
}
