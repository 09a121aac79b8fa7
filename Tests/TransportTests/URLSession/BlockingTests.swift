import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(InterceptorsURLSession)
@testable import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct BlockingThreadTests {
    @Test func jobsRunInTheirOrderAndThoseLeftAtTheEndToo() async {
        let notes = Notes<Int>()
        await withCheckedContinuation { continuation in
            let thread = BlockingThread(name: "test")
            for number in 0..<100 { thread.run { notes.add(number) } }
            thread.run { continuation.resume() }
        }
        #expect(notes.all == Array(0..<100))
    }

    // More jobs than Dispatch has threads.
    @Test func jobsThatBlockHoldNoThreadOfThePool() async {
        let gate = DispatchSemaphore(value: 0)
        let threads = (0..<300).map { _ in BlockingThread(name: "test") }
        for thread in threads { thread.run { gate.wait() } }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume() }
        }
        for _ in threads { gate.signal() }
    }
}

#if canImport(FoundationNetworking)
// Foundation on Linux reads such a stream on a queue that all sessions share, so everyone who needs that queue waits.
private final class BlockingStream: InputStream {
    private let onRead: () -> Void

    init(onRead: @escaping () -> Void) {
        self.onRead = onRead
        super.init(data: Data())
    }

    override func open() {}
    override func close() {}
    override var hasBytesAvailable: Bool { true }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        onRead()
        return 0
    }
}

@Suite(.serialized, .againstHanging) struct BusyFoundationTests {
    @Test func foundationsBusyQueueHoldsUpNoTask() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200, body: "ok"))
        let url = try #require(URL(string: "\(server.url.absoluteString)/stream"))
        let (reading, release) = (Gate(), DispatchSemaphore(value: 0))
        var upload = URLRequest(url: url)
        upload.httpMethod = "POST"
        upload.httpBodyStream = BlockingStream {
            reading.open()
            release.wait()
        }
        let session = URLSession(configuration: .ephemeral)
        session.dataTask(with: upload).resume()
        await reading.opened()
        // If a task waited for that queue on a thread of Swift's pool, the task below that releases the stream couldn't
        // run, nor could anything else. Then this thread, which belongs to no pool, releases it. Only a failing test waits
        // for real time here.
        let (rescues, end) = (Notes<Void>(), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            guard end.wait(timeout: .now() + 300) == .timedOut else { return }
            rescues.add(())
            for _ in 0..<3 { release.signal() }
        }
        let (transport, started) = (URLSessionTransport(), Tally())
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for number in 0..<32 {
                group.addTask {
                    started.count()
                    return try await transport.send(makeRequest(server, "/\(number)")).status
                }
            }
            group.addTask {
                await started.reached(32)
                for _ in 0..<3 { release.signal() }
                return 200
            }
            for try await status in group { #expect(status == 200) }
        }
        end.signal()
        #expect(rescues.all.isEmpty)
        session.invalidateAndCancel()
    }
}
#endif
