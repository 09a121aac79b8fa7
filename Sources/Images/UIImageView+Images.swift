#if canImport(UIKit) && !os(watchOS)
internal import CoreGraphics
public import Foundation
public import InterceptorsMiddlewares
internal import ObjectiveC
public import UIKit

extension UIImageView {
    // Only its address is used. The class belongs to the main actor, and so does the variable.
    private static var slotKey: UInt8 = 0

    private var slot: ImageSlot<UIImage> {
        if let slot = objc_getAssociatedObject(self, &Self.slotKey) as? ImageSlot<UIImage> { return slot }
        let slot = ImageSlot<UIImage>()
        objc_setAssociatedObject(self, &Self.slotKey, slot, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
        return slot
    }

    /// Shows the image at a URL, in place of an earlier one that may still be loading.
    ///
    /// ```swift
    /// let images = ImageLoader<UIImage>(client)
    /// let view = UIImageView()
    /// view.setImage(at: url, from: images, placeholder: UIImage(systemName: "film"))
    /// view.cancelImage()                                          // in prepareForReuse()
    /// ```
    /// An image in memory appears at once, without the placeholder. An earlier URL's image never appears after this call. An image
    /// that you set yourself is replaced when the load ends: call ``cancelImage()`` first.
    ///
    /// - Parameters:
    ///   - url: an absolute URL, or a relative one, which is a path below the client's base URL. Without one, the view drops its
    ///     load and shows the placeholder.
    ///   - loader: the loader that keeps and loads the image.
    ///   - variant: the form of the image; by default the one that the loader decodes.
    ///   - placeholder: shown until the image is there, and after a failure.
    ///   - completion: called after the image appeared, or with the error, but not if the load is dropped.
    public func setImage(
        at url: URL?,
        from loader: ImageLoader<UIImage>,
        as variant: (any ImageVariant<UIImage>)? = nil,
        placeholder: UIImage? = nil,
        completion: (@MainActor (Result<LoadedImage<UIImage>, any Error>) -> Void)? = nil
    ) {
        image = placeholder
        guard let url else { return slot.cancel() }
        slot.load(at: RequestTarget(url), from: loader, as: variant) { [weak self] result in
            if case .success(let loaded) = result { self?.image = loaded.image }
            completion?(result)
        }
    }

    /// Drops the load, if there is one, and keeps the image that the view shows. Call it before you set `image` yourself.
    public func cancelImage() { slot.cancel() }
}

extension ImageLoader where Image == UIImage {
    /// Creates a loader of images that are ready for display. Their cost is the size of their bitmap. For cells, ``ImageThumbnail``
    /// decodes them at a smaller size.
    ///
    /// - Parameters:
    ///   - client: sends the requests.
    ///   - limit: the highest total cost of the images in memory in bytes; 64 MiB by default.
    ///   - bodyLimit: the longest content in bytes, before decoding; 32 MiB by default.
    ///   - pixelLimit: the highest number of pixels; 50 million by default, which take 200 MB. A larger image isn't decoded, and
    ///     fails with `HTTPErrorCode.undecodable`.
    ///   - scale: the pixels of one point, such as the screen's scale; 1 by default.
    ///   - maxDecodings: how many images are decoded at a time; 2 by default, and at least 1.
    ///   - headers: sent with each request. They take precedence over the chain's defaults.
    ///   - context: values that accompany each request. `HTTPContext.responseBody` is replaced.
    public convenience init(
        _ client: Client,
        limit: Int = 64 << 20,
        bodyLimit: Int = 32 << 20,
        pixelLimit: Int = 50_000_000,
        scale: Double = 1,
        maxDecodings: Int = 2,
        headers: HTTPFields = [.accept: "image/*"],
        context: HTTPContext = HTTPContext()
    ) {
        self.init(
            client,
            limit: limit,
            bodyLimit: bodyLimit,
            maxDecodings: maxDecodings,
            headers: headers,
            context: context
        ) { content in
            let image = try UIImage.undecoded(content, scale: scale, pixelLimit: pixelLimit)
            return image.preparingForDisplay() ?? image
        } cost: { image in
            image.memoryCost
        }
    }
}
#endif
