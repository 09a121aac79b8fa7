extension HTTPContext {
    private enum RequestTrailersKey: HTTPContextKey { static var defaultValue: HTTPTrailers? { nil } }

    /// On a request: the fields to send after its content (RFC 9110 §6.5), such as a digest of a stream.
    ///
    /// ```swift
    /// request.headerFields[.trailer] = "Repr-Digest"
    /// request.body = HTTPBody.oneShot(chunks).map { chunk in
    ///     checksum.add(chunk)
    ///     return chunk
    /// }
    /// request.context.requestTrailers = .atEnd { ["Repr-Digest": checksum.field] }
    /// ```
    /// The closure of ``HTTPTrailers/atEnd(_:)`` is called when the body has been read to its end. A body that can be read again is
    /// read once for each sending, so what is computed from its chunks must begin again with them. After a timeout, a chunk of the
    /// last reading may still arrive when the next one has begun: only a one-shot stream rules that out. Trailers made by
    /// ``HTTPTrailers/pending()`` must have got their fields by the end of the body, or the call fails with
    /// ``HTTPErrorCode/trailersNotReceived``; they stay the same for each sending. Fields that no trailer may hold
    /// (``HTTPTrailers``) fail the call with ``HTTPErrorCode/invalidRequest``, before anything is sent if they are known by then.
    /// Each transport adds the field `Trailer` if all fields are known before the content
    /// and the request has no such field.
    ///
    /// A request with trailers is sent over HTTP/1.1 in chunks, without `Content-Length`, by `CurlTransport`. A transport that can't
    /// send trailers, such as `URLSessionTransport`, refuses the request with ``HTTPErrorCode/unsupported``. `compressRequest` leaves
    /// the content as it is. A redirect that drops the content drops the trailers too, and one to another origin drops those with a
    /// sensitive name.
    public var requestTrailers: HTTPTrailers? {
        get { self[RequestTrailersKey.self] }
        set { self[RequestTrailersKey.self] = newValue }
    }
}

extension HTTPFields {
    /// The fields with a `Trailer` that names the trailers, unless there is one, or the trailers aren't known yet.
    func announcing(_ trailers: HTTPTrailers?) -> HTTPFields {
        guard let names = trailers?.earlyFields, !names.isEmpty, !contains(.trailer) else { return self }
        var seen = Set<HTTPField.Name>()
        let list = names.map(\.name).filter { seen.insert($0).inserted }
        var announcing = self
        announcing.append(.trailer, list.map(\.rawName).joined(separator: ", "))
        return announcing
    }
}

extension HTTPRequest {
    /// Throws if the request has trailers, for a transport that can't send them.
    ///
    /// - Parameter sender: the part of the transport that can't, for the error's text.
    package func refuseTrailers(_ sender: String) throws(TransportError) {
        guard context.requestTrailers != nil else { return }
        throw TransportError(.unsupported, "\(sender) can't send trailers.", request: self)
    }
}
