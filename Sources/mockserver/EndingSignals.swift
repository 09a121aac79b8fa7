internal import Dispatch
internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Waits for SIGINT or SIGTERM.
final class EndingSignals {
    private let stream: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        let registrations = DispatchGroup()
        sources = [SIGINT, SIGTERM].map { number in
            #if canImport(Darwin)
            // On Darwin, a source sees a signal beside its handler, which would end the program. On Linux, Dispatch installs a
            // handler of its own, and an ignored signal never arrives.
            signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
            return source
        }
        // Until then, a signal would end the program at once.
        registrations.wait()
    }

    func received() async { for await _ in stream { return } }
}
