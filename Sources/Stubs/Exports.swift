@_exported public import InterceptorsTransport
