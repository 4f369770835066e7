"""Every form of token that an issuer hands out is recognised, down to the shortest token of that form."""

import re
from collections.abc import Mapping

from benchmarks._secret_samples import one_mark_each

from review_advisor.safety.secret_issuers import FORMATS
from review_advisor.safety.secrets import mark, redact

SHORTEST = {
    "1Password key": "A3-{C6}-{C11}-{C5}-{C5}-{C5} A3-{C6}-{C6}-{C5}-{C5}-{C5}-{C5}",
    "1Password token": "ops_eyJ{W100}",
    "Adobe secret": "p8e-{W32}",
    "age key": "AGE-SECRET-KEY-1{C58}",
    "Airtable token": "pat{W14}.{H64}",
    "Alibaba Cloud key id": "LTAI{W16}",
    "Anthropic key": "sk-ant-{W16}",
    "API key": "sk-{W32}",
    "Artifactory token": "AKCp{W50} cmVmdGtu{W50}",
    "Atlassian token": "ATATT3{W28} ATCTT3{W28} ATBB{W28} ATTA{W28}",
    "AWS access key id": "AKIA{C16} ASIA{C16} ABIA{C16} ACCA{C16}",
    "AWS Bedrock key": "ABSK{W109} bedrock-api-key-{W40}",
    "Azure AD secret": "{W3}8Q~{W31}",
    "Azure key": (
        "{W52}JQQJ99{W26}"
        " {W44}AzFu{W5}A== {W42}AzSe{W6} {W42}+ACR{W6} {W33}AzCa{W6}= {W33}AIoT{W6}="
        " {W33}+AEh{W6}= {W33}+ASb{W6}= {W33}+ARm{W6}= {W76}ACDb{W6}== {W76}+ASt{W6}== {W76}APIM{W6}=="
    ),
    "Azure signature": "sig=<{W43}=> sig=<{W43}>",
    "Azure storage key": "AccountKey=<{W86}==> SharedAccessKey=<{W43}=>",
    "Braintree token": "access_token$production${B16}${H32}",
    "Brevo key": "xkeysib-{W64} xsmtpsib-{W64}",
    "Buildkite token": "bkua_{H40}",
    "Cerebras key": "csk-{B40}",
    "CircleCI token": "CCIPAT_{W22} CCIPRJ_{W22}",
    "Clojars token": "CLOJARS_{W60}",
    "Cloudflare key": "v1.0-{H24}-{H100} cfut_{W40} cfat_{W40} cfk_{W40}",
    "Contentful token": "CFPAT-{W40}",
    "crates.io token": "cio{W32}",
    "Databricks token": "dapi{H32}",
    "Defined Networking key": "dnkey-{W26}-{W52}",
    "DigitalOcean token": "dop_v1_{H64} doo_v1_{H64} dor_v1_{H64}",
    "Discord token": (
        "MT{W22}.{W6}.{W27} Mj{W22}.{W6}.{W27} Mz{W22}.{W6}.{W27} ND{W22}.{W6}.{W27} NT{W22}.{W6}.{W27} "
        "Nj{W22}.{W6}.{W27} Nz{W22}.{W6}.{W27} OD{W22}.{W6}.{W27} OT{W22}.{W6}.{W27}"
    ),
    "Discord webhook": "https://discord.com/api/webhooks/{D17}/<{W60}>",
    "Docker token": "dckr_pat_{W20} dckr_oat_{W20} SWMTKN-1-{B60}",
    "Doppler token": "dp.pt.{W40} dp.st.{W40} dp.ct.{W40} dp.sa.{W40} dp.scim.{W40} dp.audit.{W40}",
    "Dropbox token": "sl.{W130}",
    "Duffel token": "duffel_live_{W43} duffel_test_{W43}",
    "Dynatrace token": "dt0c01.{C8}.{C64}",
    "EasyPost key": "EZAK{W54} EZTK{W54}",
    "ElevenLabs key": "sk_{H48}",
    "Facebook token": "EAA{W80}",
    "Figma token": "figd_{W36} figo_{W36} figu_{W36}",
    "Flutterwave key": "FLWSECK-{W12} FLWSECK_TEST-{W12}",
    "Fly.io token": "fo1_{W43} fm1r_{W80} fm1a_{W80} fm2_{W80}",
    "Frame.io token": "fio-u-{W60}",
    "GitHub token": "ghp_{W20} gho_{W20} ghu_{W20} ghs_{W20} ghr_{W20} github_pat_{W22}",
    "GitLab token": (
        "glpat-{W20} gldt-{W20} glrt-{W20} glft-{W20} glimt-{W20} glagent-{W20} glsoat-{W20} "
        "glffct-{W20} gloas-{W20} glptt-{W20} glcbt-{W20} GR1348941{W20} glrtr-{W20} glwt-{W20}"
    ),
    "Google API key": "AIza{W35} AQ.Ab8{W40}",
    "Google OAuth secret": "GOCSPX-{W20}",
    "Google OAuth token": "ya29.{W20} 1//0{W40}",
    "Grafana key": "eyJrIjoi{W60}",
    "Grafana token": "glc_{W32} glsa_{W32}_{H8}",
    "Groq key": "gsk_{W48}",
    "Harness token": "pat.{W22}.{W24}.{W20} sat.{W22}.{W24}.{W20}",
    "Heroku key": "HRKU-AA{W40}",
    "Honeycomb key": "hcaik_{W50} hcxik_{W50} hcalk_{W50}",
    "HubSpot token": "pat-na1-{I} pat-eu1-{I} pat-ap1-{I}",
    "Hugging Face token": "hf_{W34} api_org_{W34}",
    "Infracost key": "ico-{W32}",
    "LangSmith key": "lsv2_pt_{H32} lsv2_sk_{H32}",
    "LaunchDarkly key": "sdk-{I}",
    "Linear key": "lin_api_{W32} lin_oauth_{W32}",
    "Mailchimp key": "{H32}-us1",
    "Mailgun key": "key-{H32}",
    "Mapbox token": "sk.eyJ{W60} tk.eyJ{W60}",
    "MaxMind key": "{W6}_{W29}_mmk",
    "Neon key": "napi_{W48} npg_{W12}",
    "Netlify token": "nfp_{W36} nfc_{W36} nfo_{W36} nfu_{W36} nfb_{W36}",
    "New Relic key": "NRAK-{W27} NRII-{W27} NRRA-{W27} NRIQ-{W27} {H36}NRAL",
    "Notion token": "ntn_{W43} secret_{W43}",
    "npm token": "npm_{W36}",
    "NuGet key": "oy2{B43}",
    "NVIDIA key": "nvapi-{W60}",
    "Octopus Deploy key": "API-{C25}",
    "OpenAI key": "sk-proj-{W32} sk-svcacct-{W32} sk-admin-{W32} sess-{W40}",
    "OpenRouter key": "sk-or-v1-{H64}",
    "OpenShift token": "sha256~{W43}",
    "Perplexity key": "pplx-{W40}",
    "Pinecone key": "pcsk_{W50}",
    "Plaid token": "access-sandbox-{I}",
    "PlanetScale key": "pscale_tkn_{W32} pscale_pw_{W32} pscale_oauth_{W32}",
    "Postman key": "PMAK-{H24}",
    "Prefect key": "pnu_{W36} pnb_{W36}",
    "Pulumi token": "pul-{H40}",
    "PyPI token": "pypi-AgEIcHlwaS5vcmc{W50} pypi-AgENdGVzdC5weXBpLm9yZw{W50}",
    "Razorpay key id": "rzp_live_{W14} rzp_test_{W14}",
    "ReadMe key": "rdme_{B60}",
    "Replicate token": "r8_{W37}",
    "Resend key": "re_{W8}_{W24}",
    "RubyGems key": "rubygems_{H48}",
    "SendGrid key": "SG.{W20}.{W39}",
    "Sentry token": "sntrys_{W60} sntryu_{W60}",
    "Shippo token": "shippo_live_{H40} shippo_test_{H40}",
    "Shopify token": "shpat_{H32} shpss_{H32} shpca_{H32} shppa_{H32}",
    "Slack token": (
        "xoxe.xox{W40} xoxa-{W10} xoxb-{W10} xoxe-{W10} xoxo-{W10} xoxp-{W10} xoxr-{W10} xoxs-{W10} "
        "xapp-1-{C6}-{D6}-{W20} xoxc-{W10} xoxd-{W40}"
    ),
    "Slack webhook": "https://hooks.slack.com/services/<{W40}>",
    "SonarQube token": "squ_{H40} sqp_{H40} sqa_{H40}",
    "Sourcegraph token": "sgp_{W40}",
    "Square token": "sq0atp-{W22} sq0csp-{W22} EAAA{W60}",
    "Stripe key": "sk_live_{W16} sk_test_{W16} rk_live_{W16} rk_test_{W16} sk_prod_{W16}",
    "Stripe webhook secret": "whsec_{W32}",
    "Supabase key": "sbp_{H40} sb_secret_{W20}",
    "Tailscale key": "tskey-{W20}",
    "Tavily key": "tvly-{W30}",
    "Teams webhook": "https://a.webhook.office.com/webhookb2/<{I}@{I}/IncomingWebhook/{H32}/{I}>",
    "Telegram token": "{D8}:AA{W33}",
    "Tencent Cloud key id": "AKID{W32}",
    "Terraform token": "{W14}.atlasv1.{W60}",
    "Together key": "tgp_v1_{W40}",
    "Twilio key": "SK{H32}",
    "Typeform token": "tfp_{W40}",
    "Vault token": "hvs.{W24} hvb.{W24} hvr.{W24} s.{W24}",
    "Vercel token": "vcp_{W24} vci_{W24} vca_{W24} vcr_{W24} vck_{W24} vercel_blob_rw_{W30}",
    "web token": "eyJ{W10}.eyJ{W10}.{W10} eyJ{W10}.eyJ{W10}. eyJ{W10}..{W16}.{W8}.{W16}",
    "X bearer token": "AAAAAAAAAAAAAAAAAAAA{W60}",
    "xAI key": "xai-{W70}",
    "Yandex Cloud key": "AQVN{W35} YC{W38} t1.9eu{W60}",
    "Azure DevOps token": "{W76}AZDO{W4}",
    "Snyk token": "snyk_uat.{W40}",
    "Socket token": "sktsec_{W40}",
    "Chromatic token": "chpt_{H12}",
    "Packagist token": "packagist_{B40}",
    "AWS session token": "IQoJb3JpZ2lu{W100} FwoGZXIvYXdz{W100} FQoGZXIvYXdz{W100}",
    "Amazon token": "amzn.mws.{I}",
    "Amazon secret": "amzn1.oa2-cs.v1.{H64}",
    "Firebase key": "AAAA{W7}:APA91b{W100}",
    "Render key": "rnd_{W28}",
    "Aiven secret": "AVNS_{W16}",
    "Scalingo token": "tk-us-{W48}",
    "Yandex token": "y0_{W50}",
    "NATS seed": "SU{T56} SA{T56} SO{T56} SN{T56} SC{T56} SX{T56}",
    "Minisign key": "RWRTY0Iy{W200}",
    "k3s token": "K10{H64}::server:{H32}",
    "dbt token": "dbtc_{W36} dbtu_{W36} dbts_{W36}",
    "Axiom token": "xaat-{I} xapt-{I}",
    "PostHog key": "phx_{W40}",
    "Honeybadger token": "hbp_{W36}",
    "Cartesia key": "sk_car_{W20}",
    "Jina key": "jina_{W56}",
    "Fireworks key": "fw_{W22}",
    "Voyage key": "pa-{W43}",
    "Firecrawl key": "fc-{H32}",
    "Apify token": "apify_api_{W36}",
    "E2B key": "e2b_{H40}",
    "RunPod key": "rpa_{W40}",
    "LlamaCloud key": "llx-{W40}",
    "Wandb key": "wandb_v1_{W40}",
    "Modal token": "ak-{W22} as-{W22}",
    "Browserbase key": "bb_live_{W24}",
    "Mattermost webhook": "https://a.example/hooks/<{B26}>",
    "IFTTT webhook": "https://maker.ifttt.com/trigger/a/with/key/<{W22}>",
    "Make webhook": "https://hook.eu1.make.com/<{B32}>",
    "Zapier webhook": "https://hooks.zapier.com/hooks/catch/1234567/<{W6}>",
    "Lark webhook": "https://open.feishu.cn/open-apis/bot/v2/hook/<{I}>",
    "WeCom webhook": "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=<{I}>",
    "MailerSend token": "mlsn.{H64}",
    "OneSignal key": "os_v2_app_{B60} os_v2_org_{B60}",
    "PubNub key": "sec-c-{W36}",
    "Intercom token": "dG9rO{W50}",
    "Telnyx key": "KEY0{D31}_{W22}",
    "Twitch token": "oauth:<{B30}>",
    "Pushbullet token": "o.{W32}",
    "Salesforce token": "00D{W12}!AQ{W60}",
    "Zoho token": "1000.{H32}.{H32}",
    "RapidAPI key": "{H10}msh{H15}p1{H6}jsn{H12}",
    "DeepL key": "{I}:fx",
    "ClickUp token": "pk_{D5}_{C32}",
    "Riot key": "RGAPI-{I}",
    "VK token": "vk1.a.{W80}",
    "LinkedIn secret": "WPL_AP1.{W16}",
    "Pinterest token": "pina_{W32}",
    "Instagram token": "IGQV{W80} IGAA{W80}",
    "Tinybird token": "p.eyJ{W60}",
    "wallet key": (
        "xprv{W100} tprv{W100} yprv{W100} zprv{W100} nsec1{B58} suiprivkey1{B58} SA{T54} SB{T54} SC{T54} SD{T54}"
    ),
    "Alchemy key": "alcht_{W30}",
    "Mollie key": "live_{W30} test_{W30}",
    "Lob key": "live_{H35} test_{H35}",
    "GoCardless token": "live_{W40} sandbox_{W40}",
    "Paddle key": "pdl_live_apikey_{W40} pdl_sdbx_apikey_{W40}",
    "Polar token": "polar_oat_{W40} polar_pat_{W40}",
    "Xendit key": "xnd_production_{W40} xnd_development_{W40}",
    "Midtrans key": "Mid-server-{W20}",
    "Cashfree secret": "cfsk_ma_{B40}",
    "SumUp key": "sup_sk_{W32}",
    "Adyen key": "AQEyhmfuXNWTK0Qc{W40}",
    "Stytch secret": "secret-live-{W36} secret-test-{W36}",
    "MongoDB key": "mdb_sa_sk_{W40}",
    "CockroachDB key": "CCDB1_{W40}",
    "Xata key": "xau_{W32}",
    "Mandrill key": "md-{W22}",
    "PASETO token": "v1.local.{W60} v2.local.{W60} v3.local.{W60} v4.local.{W60}",
    "AWS signature": "X-Amz-Signature=<{H64}>",
    "Google signature": "X-Goog-Signature=<{H128}>",
    "Backblaze key": "K00{W28}",
    "ClickHouse key": "4b1d{W38}",
}
"""Letters and digits stand for what is drawn: ``{W20}`` for twenty of both cases, ``{B20}`` for lower and ``{C20}`` for
upper case, ``{T20}`` for those of base32,
``{H20}`` for hexadecimal ones, ``{D20}`` for digits, ``{I}`` for a UUID. Where only a part of a text is the
secret, it stands between ``<`` and ``>``."""
LOOSE = (
    "LTAI sk- AKCp cmVmdGtu ATATT3 ATCTT3 ATBB ATTA ABSK 8Q~ sig= csk- cio MT Mj Mz ND NT Nj Nz OD OT sl. EZAK "
    "EZTK EAA fo1_ AIza 1//0 glc_ gsk_ hf_ api_org_ ico- key- napi_ nfp_ ntn_ secret_ oy2 API- pnu_ pnb_ r8_ "
    "re_ EAAA tskey- tvly- AKID SK hvs. hvb. hvr. s. vcp_ vci_ vca_ vcr_ vck_ AAAAAAAAAAAAAAAAAAAA AQVN YC "
    "chpt_ nfc_ nfo_ nfu_ nfb_ rnd_ AVNS_ cfut_ cfat_ cfk_ y0_ SU SA SO SN SC SX SB SD dbtc_ dbtu_ dbts_ phx_ hbp_ "
    "sess- sk_car_ fw_ pa- fc- rpa_ llx- ak- as- bb_live_ dG9rO oauth: o. pina_ IGQV IGAA xprv tprv yprv zprv alcht_ "
    "md- K00 live_ test_ sandbox_ npg_ xau_ 4b1d "
)
"""What the tokens begin with whose form other texts have as well."""
DRAWN = {"W": "x7Kq2Zv9Bm4Tj6Rw1Ly8Hd3", "H": "7c2e9a4f1d8b05e3", "D": "70412958"}
DRAWN |= {"B": DRAWN["W"].lower(), "C": DRAWN["W"].upper(), "T": "X7KQ2ZV4BM5TJ6RWLYFHD3"}


ONE_LETTER = {"W": "a", "H": "a", "D": "1", "B": "a", "C": "A", "T": "A"}
EXAMPLES = [(kind, example) for kind, examples in SHORTEST.items() for example in examples.split()]


def drawn(form: str, of: Mapping[str, str] = DRAWN) -> str:
    form = form.replace("{I}", "{H8}-{H4}-{H4}-{H4}-{H12}")
    return re.sub(r"\{([A-Z])(\d+)\}", lambda part: (of[part[1]] * 210)[: int(part[2])], form)


def is_loose(example: str) -> bool:
    return any(re.match(rf"(?:\{{W3\}})?{re.escape(begin)}<?\{{", example) for begin in LOOSE.split())


def test_the_shortest_token_of_each_form_goes_and_its_mark_names_the_issuer() -> None:
    for kind, example in EXAMPLES:
        before, _, rest = drawn(example).rpartition("<")
        shown = one_mark_each(redact(f"setting: '{before}{rest.removesuffix('>')}'"))
        stays = "." if rest.endswith(".") else ""  # a dot may end a sentence, and tells nothing
        assert shown == f"setting: '{before}{mark(kind)}{stays}'", example


def test_each_form_has_its_example_here() -> None:
    assert {form.kind for form in FORMATS} == SHORTEST.keys()
    for form in FORMATS:
        assert any(form.holds in drawn(example).replace("<", "") for example in SHORTEST[form.kind].split()), form


def test_a_form_that_other_texts_have_counts_only_where_it_stands_alone_and_looks_random() -> None:
    for kind, example in EXAMPLES:
        for text in (f"'a{drawn(example)}'", f"'{drawn(example, ONE_LETTER)}'"):
            told = text.replace("<", "").replace(">", "")
            assert (mark(kind) in redact(told)) is not is_loose(example), told


PART = re.compile(r"\{([A-Z])(\d+)\}")


def test_with_one_character_less_in_any_part_it_is_no_token_of_that_issuer() -> None:
    for kind, example in EXAMPLES:
        for place in PART.finditer(example):
            shorter = f"{example[: place.start()]}{{{place[1]}{int(place[2]) - 1}}}{example[place.end() :]}"
            told = drawn(shorter).replace("<", "").replace(">", "")
            assert mark(kind) not in redact(f"setting: '{told}'"), told
