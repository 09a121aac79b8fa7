#if canImport(FoundationNetworking)
internal import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// A request in Foundation's form, without its body. Throws if Foundation would send something else than the caller asked
/// for.
package struct OutgoingRequest {
    package private(set) var urlRequest: URLRequest

    /// - Parameter isInBackground: whether a background session sends the request, whose time limit is the system's.
    package init(_ request: HTTPRequest, isInBackground: Bool = false) throws {
        try Self.checkURL(request)
        try Self.checkBody(request)
        var urlRequest = URLRequest(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        urlRequest.timeoutInterval =
            isInBackground ? SessionDelegate.backgroundSilence : SessionDelegate.noTimeout
        urlRequest.httpShouldHandleCookies = false
        urlRequest.httpMethod = request.method.rawValue
        // "get" would go out as "GET", which is another method (RFC 9110 §9.1).
        guard urlRequest.httpMethod == request.method.rawValue else {
            throw Self.unsupported("URLSession would change the method's letters: write it in upper case.", request)
        }
        try Self.setFields(of: request, on: &urlRequest)
        Self.excludeNetworks(request.context.network, from: &urlRequest)
        self.urlRequest = urlRequest
    }

    /// Excludes only what the request excludes: the session's configuration may exclude more.
    private static func excludeNetworks(_ network: NetworkRequirements, from urlRequest: inout URLRequest) {
        #if !canImport(FoundationNetworking)
        if network.contains(.notExpensive) { urlRequest.allowsExpensiveNetworkAccess = false }
        if network.contains(.notConstrained) { urlRequest.allowsConstrainedNetworkAccess = false }
        #endif
    }

    /// Lets the caller's closure set further options. Throws if the closure changed anything that was checked.
    mutating func apply(_ prepare: (inout URLRequest, HTTPRequest) -> Void, for request: HTTPRequest) throws {
        var prepared = urlRequest
        prepare(&prepared, request)
        let comparisons = [
            ("URL", prepared.url == urlRequest.url),
            ("method", prepared.httpMethod == urlRequest.httpMethod),
            ("fields", prepared.allHTTPHeaderFields == urlRequest.allHTTPHeaderFields),
            ("body", prepared.httpBody == nil && prepared.httpBodyStream == nil),
            ("time limit", prepared.timeoutInterval == urlRequest.timeoutInterval),
            ("handling of cookies", prepared.httpShouldHandleCookies == urlRequest.httpShouldHandleCookies),
        ]
        if let (change, _) = comparisons.first(where: { !$0.1 }) {
            let remedy = change == "time limit" ? "Use Timeouts" : "Change the request in an interceptor"
            throw Self.unsupported("The closure prepare changed the request's \(change). \(remedy) instead.", request)
        }
        // A closure that allows a network to all requests doesn't allow it to this one.
        Self.excludeNetworks(request.context.network, from: &prepared)
        urlRequest = prepared
    }

    private static func checkURL(_ request: HTTPRequest) throws {
        guard request.method != .connect else {
            throw unsupported("URLSession can't send CONNECT: tunnels are the system's to make.", request)
        }
    }

    private static func checkBody(_ request: HTTPRequest) throws {
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        guard request.body.isEmpty || (request.method != .get && request.method != .head) else {
            throw unsupported("URLSession can't send a \(request.method) with a body.", request)
        }
        try checkFile(request)
    }

    /// Throws if the body's file is gone, or its length has changed since the body was made.
    static func checkFile(_ request: HTTPRequest) throws(TransportError) {
        guard let file = request.body.file, let length = request.body.length else { return }
        // The body's length is the size of a link's target. A URL may cache an old size.
        var target = file.resolvingSymlinksInPath()
        target.removeAllCachedResourceValues()
        let found = try? target.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
        guard let found, found.isRegularFile == true, FileManager.default.isReadableFile(atPath: file.path) else {
            throw TransportError(.unreadableFile, "\(file.path) can't be read any more.", request: request)
        }
        guard found.fileSize.map(Int64.init) == length else {
            let message =
                "\(file.path) has \(found.fileSize ?? 0) bytes, and had \(length) when the body was made of it."
            throw TransportError(.bodyLengthMismatch, message, request: request)
        }
    }

    private static func setFields(of request: HTTPRequest, on urlRequest: inout URLRequest) throws {
        let fields = request.headers
        // Foundation sets Content-Length, and validation has checked that the request's value is right.
        for (index, field) in fields.enumerated() where field.name != .contentLength {
            guard !fields[..<index].contains(where: { $0.name == field.name }) else { continue }
            let values = fields[values: field.name]
            guard values.count == 1 || field.name != .setCookie else {
                throw unsupported("URLSession would join several Set-Cookie fields into one.", request)
            }
            let value = values.joined(separator: field.name == .cookie ? "; " : ", ")
            urlRequest.setValue(value, forHTTPHeaderField: field.name.rawName)
            guard urlRequest.value(forHTTPHeaderField: field.name.rawName) == value else {
                throw unsupported("URLSession would drop or rewrite the field \(field.name).", request)
            }
        }
        // A part of coded content can't be decoded. And Foundation on Linux doesn't report a coding that ends too soon.
        #if canImport(FoundationNetworking)
        let mayBeCoded = false
        #else
        let mayBeCoded = !fields.contains(.range)
        #endif
        if !mayBeCoded, !fields.contains(.acceptEncoding) {
            urlRequest.setValue("identity", forHTTPHeaderField: HTTPField.Name.acceptEncoding.rawName)
        }
        // Otherwise Foundation declares the body a form.
        if !request.body.isEmpty, !fields.contains(.contentType) {
            urlRequest.setValue("application/octet-stream", forHTTPHeaderField: HTTPField.Name.contentType.rawName)
        }
    }

    private static func unsupported(_ message: String, _ request: HTTPRequest) -> TransportError {
        TransportError(.unsupported, message, request: request)
    }
}

extension HTTPRequest {
    /// Whether the request is part of an upload that its caller resumes, by the IETF draft or by tus 1.0.
    package var isOfResumableUpload: Bool {
        headers.contains("Upload-Draft-Interop-Version") || headers.contains("Tus-Resumable")
    }
}
