internal import Foundation
internal import InterceptorsSyntax

/// HTTP message signatures (RFC 9421): the signer of `.hmacSHA256(…)`.
struct HTTPMessageSignature: Sendable {
    private let key: SigningKey
    private let keyID: String?
    private let label: String
    private let components: [String]?

    init(_ key: SigningKey, keyID: String? = nil, label: String = "sig1", covering components: [String]? = nil) {
        self.key = key
        self.keyID = keyID
        self.label = label
        self.components = components?.map { $0.lowercased() }
    }

    func sign(_ request: inout HTTPRequest, at date: Date) async throws {
        let covered = components ?? Self.defaultComponents(of: request)
        if covered.contains("content-digest"), !request.headers.contains("Content-Digest") {
            let digest = try await request.body.sha256().base64EncodedString()
            request.headers.append("Content-Digest", "sha-256=:\(digest):")
        }
        let parameters = try self.parameters(covered, at: date, of: request)
        let base = try Self.base(covered, parameters, of: request)
        let signature = try key.hmacSHA256(base).base64EncodedString()
        request.headers.append("Signature-Input", "\(label)=\(parameters)")
        request.headers.append("Signature", "\(label)=:\(signature):")
    }

    private static func defaultComponents(of request: HTTPRequest) -> [String] {
        var components = ["@method", "@target-uri"]
        if request.headers.contains(.contentType) { components.append("content-type") }
        if !request.body.isEmpty { components.append("content-digest") }
        return components
    }

    private func parameters(_ covered: [String], at date: Date, of request: HTTPRequest) throws -> String {
        let isLabel = label.utf8.first.map { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "*") }
        guard isLabel == true, ASCII.isToken(label), label == label.lowercased(), Set(covered).count == covered.count,
            covered.allSatisfy({ ASCII.isToken($0.first == "@" ? String($0.dropFirst()) : $0) })
        else {
            throw TransportError.unsigned(
                .unsignableRequest,
                "The signature's label or a covered component is not a valid name, or a component is listed twice. Use names in"
                    + " lower case (RFC 9421 §2), each once.",
                request: request
            )
        }
        var text = "(" + covered.map { "\"\($0)\"" }.joined(separator: " ") + ")"
        text += ";created=\(Int(date.timeIntervalSince1970))"
        guard let keyID else { return text }
        guard keyID.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) else {
            throw TransportError.unsigned(
                .unsignableRequest,
                "The key's ID contains characters other than printable ASCII, which the field can't carry (RFC 8941 §3.3.3)."
                    + " Use another keyID.",
                request: request
            )
        }
        let escaped = keyID.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return text + ";keyid=\"\(escaped)\""
    }

    static func base(_ covered: [String], _ parameters: String, of request: HTTPRequest) throws -> String {
        var base = ""
        for name in covered { base += "\"\(name)\": \(try value(of: name, in: request))\n" }
        return base + "\"@signature-params\": \(parameters)"
    }

    // RFC 9421 §2.1 and §2.2.
    private static func value(of component: String, in request: HTTPRequest) throws -> String {
        let target = WireTarget(request)
        switch component {
        case "@method": return request.method.rawValue
        case "@target-uri": return "\(target.scheme)://\(target.authority)\(target.requestTarget)"
        case "@authority": return target.authority
        case "@scheme": return target.scheme
        case "@request-target": return target.requestTarget
        case "@path": return target.path
        case "@query": return "?\(target.query ?? "")"
        default:
            guard let name = HTTPField.Name(component), request.headers.contains(name) else {
                throw TransportError.unsigned(
                    .unsignableRequest,
                    "The signature must cover \(component), but the request has no such field. Add the field, or leave it out of"
                        + " covering:.",
                    request: request
                )
            }
            return request.headers[values: name].joined(separator: ", ")
        }
    }
}
