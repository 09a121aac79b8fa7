#if os(Linux)
import Foundation
import Glibc
import Testing

/// A proxy that opens tunnels (RFC 9110 §9.3.6). Each leads to a port of this machine, whatever host the client names.
/// It runs until the process ends.
final class TunnelProxy: Sendable {
    let url: URL

    init() throws {
        let listener = try SilentServer()
        url = try #require(URL(string: "http://127.0.0.1:\(listener.port)"))
        Thread.detachNewThread {
            while case let client = accept(listener.descriptor, nil, nil), client >= 0 {
                Thread.detachNewThread { Self.serve(client) }
            }
        }
    }

    private static func serve(_ client: Int32) {
        var head = Data()
        while !head.ends("\r\n\r\n"), let byte = read(client, most: 1) { head += byte }
        let target = String(decoding: head, as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
        guard let port = target.split(separator: ":").last.flatMap({ UInt16($0) }), let server = connect(to: port)
        else {
            close(client)
            return
        }
        write(client, Data("HTTP/1.1 200 Opened\r\nX-Proxy: 1\r\nSet-Cookie: proxy=1\r\n\r\n".utf8))
        Thread.detachNewThread { pump(server, client) }
        pump(client, server)
    }

    private static func pump(_ source: Int32, _ target: Int32) {
        while let bytes = read(source, most: 1 << 16) { write(target, bytes) }
        shutdown(target, Int32(SHUT_WR))
    }

    private static func read(_ descriptor: Int32, most: Int) -> Data? {
        var buffer = [UInt8](repeating: 0, count: most)
        let count = Glibc.read(descriptor, &buffer, most)
        return count > 0 ? Data(buffer.prefix(count)) : nil
    }

    private static func write(_ descriptor: Int32, _ bytes: Data) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    static func connect(to port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) == 0 }
        }
        return isConnected ? descriptor : nil
    }
}

extension Data {
    fileprivate func ends(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
#endif
