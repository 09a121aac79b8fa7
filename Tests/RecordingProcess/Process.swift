import Foundation

/// Prints a line at once: a buffered one would be lost with the process.
func report(_ text: String) {
    let line = Data((text + "\n").utf8)
    _ = line.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
}

/// Ends the process, like any signal that nobody catches, after this much processor time.
func killAfter(microseconds: Int) {
    guard microseconds > 0 else { return }
    var timer = itimerval()
    timer.it_value.tv_usec = .init(microseconds)
    #if os(Linux)
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    #else
    setitimer(ITIMER_PROF, &timer, nil)
    #endif
}

/// From now on, a write past this length fails, in any file.
func limitFiles(to length: UInt) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: .init(length), rlim_max: .init(length))
    #if os(Linux)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
    setrlimit(RLIMIT_FSIZE, &limit)
    #endif
}
