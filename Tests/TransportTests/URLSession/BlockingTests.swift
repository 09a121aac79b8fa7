import Foundation
import Testing
import TransportTesting

@testable import Transport

#if canImport(FoundationNetworking)
import FoundationNetworking
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
        server.on(nil, "/**", MockResponse(body: "ok"))
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
        // run. Then this thread, which belongs to no pool, releases it.
        let rescues = Notes<Void>()
        let rescue = Thread {
            Thread.sleep(forTimeInterval: 30)
            rescues.add(())
            for _ in 0..<3 { release.signal() }
        }
        rescue.start()
        let transport = URLSessionTransport()
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for number in 0..<32 {
                group.addTask { try await transport.send(makeRequest(server, "/\(number)")).status }
            }
            // Starts after all others.
            group.addTask {
                for _ in 0..<100 { await Task.yield() }
                for _ in 0..<3 { release.signal() }
                return 200
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(rescues.all.isEmpty)
        session.invalidateAndCancel()
    }
}
#endif
