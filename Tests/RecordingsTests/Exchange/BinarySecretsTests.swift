import Foundation
import Testing

@testable import InterceptorsRecordings

/// The secrets that are found in binary content, and those that aren't.
@Suite(.againstHanging) struct BinarySecretsTests {
    private static let secret = "s3cr3tV4lue"
    private static let token = "eyJhbGciOiJIUzI1NiJ9.\(Data("{\"sub\":\"\(secret)\"}".utf8).base64EncodedString()).c2ln"
    private static let key = "-----BEGIN PRIVATE KEY-----\n\(secret)\n\(secret)\n-----END PRIVATE KEY-----\n"

    /// A protobuf or gRPC message: fields of a tag, a length and a text. It isn't UTF-8.
    private static func message(_ text: String) -> Data {
        var data = Data([0, 0, 0, 0, UInt8(truncatingIfNeeded: text.utf8.count + 6), 0x0A, 0x02, 0xC3, 0x28, 0x12])
        data.append(UInt8(truncatingIfNeeded: text.utf8.count & 0x7F | 0x80))
        data.append(1)
        return data + Data(text.utf8) + [0xFF, 0]
    }

    private func kept(_ content: Data, _ type: String, hook: (@Sendable (String) -> String)? = nil) -> Data {
        switch ExchangeRedaction(hook: hook).content(content, [.contentType: type]) {
        case .unchanged: content
        case .changed(let bytes): bytes
        case .unreadable: Data()
        }
    }

    private static let types = [
        "application/grpc", "application/x-protobuf", "application/cbor", "application/msgpack",
        "application/octet-stream", "",
    ]

    @Test(arguments: types) func secretsAreFoundByShape(type: String) {
        let texts = [Self.token, "Bearer \(Self.secret)", "https://ada:\(Self.secret)@a.example/", Self.key]
        for text in texts + ["password=\(Self.secret)"] {
            let kept = kept(Self.message(text), type)
            #expect(kept.range(of: Data(Self.secret.utf8)) == nil && kept.range(of: Data("REDACTED".utf8)) != nil)
            #expect(kept.range(of: Data(Self.token.dropFirst(3).utf8)) == nil)
            #expect(self.kept(kept, type) == kept)
        }
    }

    /// The article *Recording responses* says so.
    @Test func aNameInOneFieldDoesNotHideTheValueInAnother() {
        // {"password": "s3cr3tV4lue", 1: 0xFF} in CBOR: a map, texts after their lengths.
        let map = Data([0xA2, 0x68]) + Data("password".utf8) + [0x6B] + Data(Self.secret.utf8) + [0x01, 0x41, 0xFF]
        #expect(kept(map, "application/cbor") == map)
    }

    @Test func theHookIsCalledForRunsOfTextAndNotForImages() {
        let hook: @Sendable (String) -> String = { $0.replacing("s3cr3tV4lue", with: "someone") }
        let message = Self.message("a \(Self.secret)")
        #expect(kept(message, "application/grpc", hook: hook).range(of: Data("someone".utf8)) != nil)
        #expect(kept(message, "image/png", hook: hook) == message)
        let short = Data([0xFF, 0]) + Data("s3cr3t".utf8) + [0]
        #expect(kept(short, "application/grpc") { _ in "someone" } == short)
    }
}
