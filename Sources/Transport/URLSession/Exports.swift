// On Linux, this folder is the module InterceptorsURLSession.
#if canImport(FoundationNetworking)
@_exported public import InterceptorsTransport
#endif
