import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTransfers

// DownloadProcess URL FILE [digest=SHA256] [time=MICROSECONDS] [bytes=COUNT] [limit=LENGTH]
//
// Downloads a URL across launches, and prints `done` or the error's code. With `time=`, the kernel kills the process after
// MICROSECONDS of processor time. With `bytes=`, the process kills itself after COUNT bytes. `limit=` is the length of the
// longest file that the process can write.

let arguments = CommandLine.arguments
guard arguments.count >= 3, let url = URL(string: arguments[1]) else { exit(64) }

func option(_ name: String) -> String? {
    arguments.dropFirst(3).first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
}

var resuming = DownloadResuming.acrossLaunches.trying(time: TimeSource(random: RandomSource { 0 }))
// Frequent checkpoints, so that nearly every kill leaves bytes to continue.
resuming.checkpoint.bytes = 4_096

if let length = option("limit").flatMap({ UInt($0) }) { ProcessLimits.limitFiles(to: length) }
ProcessLimits.killAfter(microseconds: option("time").flatMap { Int($0) } ?? 0)

let bytes = option("bytes").flatMap { Int64($0) } ?? .max
let digest = option("digest")
do {
    try await Client(interceptors: [])
        .download(RequestTarget(url), to: URL(filePath: arguments[2]), resuming: resuming, sha256: digest) {
            progress in
            if progress.completed >= bytes { kill(getpid(), SIGKILL) }
        }
    print("done")
} catch let error as any HTTPError {
    print(error.code.rawValue)
}
