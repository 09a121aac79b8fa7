import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTransfers

// UploadProcess URL FILE STATE draft|tus [part=LENGTH] [time=MICROSECONDS] [bytes=COUNT] [requests=COUNT]
//
// Uploads a file across launches, and prints `done` or the error's code. STATE is the file that remembers the unfinished upload.
// `part=` is the length of the longest content of a request. With `time=`, the kernel kills the process after MICROSECONDS of
// processor time. With `bytes=`, the process kills itself after COUNT bytes, and with `requests=` before its request with that number.

let arguments = CommandLine.arguments
guard arguments.count >= 5, let url = URL(string: arguments[1]) else { exit(64) }
let state = URL(filePath: arguments[3])

func option(_ name: String) -> Int? {
    arguments.dropFirst(5).first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
}

ProcessLimits.killAfter(microseconds: option("time") ?? 0)

let bytes = option("bytes").map(Int64.init) ?? .max
let requests = option("requests") ?? .max
let sent = Tally()
let part = option("part").map(Int64.init) ?? .max
let time = TimeSource(random: RandomSource { 0 })
let plain: UploadResuming =
    arguments[4] == "tus" ? .tus(partLimit: part).trying(time: time) : .draft(partLimit: part).trying(time: time)
do {
    let saved = try? JSONDecoder().decode(UnfinishedUpload.self, from: Data(contentsOf: state))
    let resuming = plain.acrossLaunches(from: saved) { upload in
        do {
            try JSONEncoder().encode(upload).write(to: state, options: .atomic)
        } catch {
            print("\(error)")
            exit(1)
        }
    }
    let film = try HTTPBody(file: URL(filePath: arguments[2]))
    let counting = AnyInterceptor.intercept { request, next in
        if sent.count() >= requests { kill(getpid(), SIGKILL) }
        return try await next(request)
    }
    try await Client(interceptors: [counting])
        .upload(.stream(film, type: nil), to: RequestTarget(url), resuming: resuming) { progress in
            if progress.completed >= bytes { kill(getpid(), SIGKILL) }
        }
    try? FileManager.default.removeItem(at: state)
    print("done")
} catch let error as any HTTPError {
    print(error.code.rawValue)
}
