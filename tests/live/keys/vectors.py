"""Published test vectors of Noise: the entries of XXpsk3 with curve 25519 and SHA-256.

Source: the file of vectors of the library cacophony, as snow and noiseprotocol distribute it. All
entries share the keys, the secret, the prologue and the payloads. The hashes of that file are left
out: they are taken before the last two tokens of a handshake, and noiseprotocol differs from them.
"""

PROLOGUE = bytes.fromhex("4a6f686e2047616c74")
SECRET = bytes.fromhex("54686973206973206d7920417573747269616e20706572737065637469766521")
INITIATOR_STATIC = "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1"
INITIATOR_EPHEMERAL = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a"
RESPONDER_STATIC = "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893"
RESPONDER_EPHEMERAL = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"
PAYLOADS = (
    "4c756477696720766f6e204d69736573",
    "4d757272617920526f746862617264",
    "462e20412e20486179656b",
    "4361726c204d656e676572",
    "4a65616e2d426170746973746520536179",
    "457567656e2042f6686d20766f6e2042617765726b",
)
# cipher -> the three handshake messages and three transport messages
VECTORS = {
    "AESGCM": (
        "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
        "ad6766e442bec99c94ff573cd5316da008cbcc1ebcf47fbe43991ed633bcbb75",
        "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
        "36a2439b0bafb5e97fee2c19b6f9f741125f810ad98e7e9659c48ca3e19652d3"
        "16d1121073a281e0402b7bc1acb476caa1e7308faad7f75337b30f12435c9830"
        "3cac63cac1d69ac11f2e1971e138ac",
        "2504a7905dbd6a56820581eb314085df196fda55aa5e77745d61c0b526355733"
        "d5ee67b9a4f345be7dc7c6583d3807626eb0f42c69388955ff0c9f35b0395112"
        "9db18848a76f6a4d270022",
        "b20ca762013411bc55d65fc7137a2e719d432cd549cb037f5e9c84",
        "6b10e774950e93bc7cc50f225a105e656eb418310c00c374a81c1452b48cb12000",
        "6d617e8fd817a630755b8dffdee52ad3c39964bdca895a56847fd5f1edb49d14f555cc314b",
    ),
    "ChaChaPoly": (
        "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
        "c9f5ff0e8079630cb7e270c20bbf480821b77a384a645c71a2fd9b3db1c16a5f",
        "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
        "b123def17f71e6ae8e57e0e1dec5949c5f7415c6f33517398747d821a06dc23a"
        "d430aa1fd7381d46195c378a819fd574425462cbb2d4ca339e738a0b7001dc91"
        "423fbf55a99af0c6f1df21012ceb2f",
        "52187316111b118d4c060364f7b975dc0809b2590779aff2d63113c564f11744"
        "493384db7bf32d5ae6686df6ab06d508d2e07caaf1d6afc010b978735fc78900"
        "e71ae1d314130d042e729a",
        "eaedc672d4c21e0e2955758756fb98f194c4e90d5deb5b6cf30b27",
        "522d543c5fe799d09a3d9da7ff54d0dc03c8af1dc7751d2ff708339d2290943e98",
        "7d4e2c3873eef6a213b04e72f9df60a91666072d3544c5d96c34a09e2329b5030bee796741",
    ),
}
